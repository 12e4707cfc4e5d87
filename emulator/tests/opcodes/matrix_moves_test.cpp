#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA: ldmatrix, stmatrix, movmatrix.
namespace emulator::test {
namespace {

/// A tile in shared memory of 32 rows, 48 bytes apart: element e of row r is 256 r + e. Puts the
/// address of row (5 * lane) % 32 in %r10.
std::string tile(const std::string& address = "%r10") {
  return ".shared .align 16 .b8 tile[1536];\n"
         "mov.u32 %r3, tile; mul.lo.u32 %r4, %r2, 48; add.u32 %r5, %r3, %r4; shl.b32 %r6, %r2, 8;\n"
         "mov.u32 %r7, 0;\nFILL: add.u32 %r8, %r6, %r7; cvt.u16.u32 %h1, %r8;\n"
         "shl.b32 %r8, %r7, 1; add.u32 %r8, %r5, %r8; st.shared.u16 [%r8], %h1;\n"
         "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 8; @%p1 bra FILL;\nbar.sync 0;\n"
         "mul.lo.u32 %r4, %r2, 5; and.b32 %r4, %r4, 31; mad.lo.u32 " +
         address + ", %r4, 48, %r3;\n";
}

std::uint32_t in_tile(int row_of_lane, int e) {
  return static_cast<std::uint32_t>(256 * (5 * row_of_lane % 32) + e);
}

std::vector<std::uint32_t> run_on(const std::string& target, const std::string& body,
                                  std::size_t results) {
  Device device;
  Kernels kernels(device, module_head(target) + kernel({"out"}, body));
  const auto out = device.allocate(32 * results * 4);
  kernels.run("test", {.grid = {1}, .block = {32}}, out);
  return device.download<std::uint32_t>(out, 32 * results);
}

Caught caught_on(const std::string& target, const std::string& body, unsigned threads = 32) {
  return caught_from([&] {
    Device device;
    Kernels kernels(device, module_head(target) + kernel({"out"}, body));
    kernels.run("test", {.grid = {1}, .block = {threads}}, device.allocate(4096));
  });
}

void expect_loaded(const std::string& form, int count, bool transposed, const std::string& d,
                   const std::string& address, const std::string& more = "") {
  SCOPED_TRACE(form);
  std::string body = tile(address) + more + "ldmatrix.sync.aligned.m8n8." + form + " {";
  for (int j = 0; j < count; ++j) body += (j == 0 ? "" : ", ") + d + std::to_string(j);
  body += "}, [" + (more.empty() ? address : "%l1") + "];\n" + element("%out", 4 * count);
  for (int j = 0; j < count; ++j)
    body += "st.global.u32 [%l31+" + std::to_string(4 * j) + "], " + d + std::to_string(j) + ";\n";
  const auto out = run_on("sm_80", body, static_cast<std::size_t>(count));
  for (int lane = 0; lane < 32; ++lane)
    for (int j = 0; j < count; ++j) {
      std::uint32_t expected = 0;
      for (int i = 0; i < 2; ++i) {
        const int row = transposed ? 2 * (lane % 4) + i : lane / 4;
        const int e = transposed ? lane / 4 : 2 * (lane % 4) + i;
        expected |= in_tile(8 * j + row, e) << (16 * i);
      }
      EXPECT_EQ(out[static_cast<std::size_t>(lane * count + j)], expected)
          << "lane " << lane << ", matrix " << j;
    }
}

TEST(MatrixMoves, LoadsMatrices) {
  expect_loaded("x1.shared.b16", 1, false, "%r2", "%r10");
  expect_loaded("x2.shared.b16", 2, false, "%r2", "%r10");
  expect_loaded("x4.shared.b16", 4, false, "%r2", "%r10");
  expect_loaded("x1.trans.shared.b16", 1, true, "%r2", "%r10");
  expect_loaded("x2.trans.shared::cta.b16", 2, true, "%r2", "%r10");
  expect_loaded("x4.trans.shared.b16", 4, true, "%r2", "%r10");
}

TEST(MatrixMoves, LoadsIntoTheRegisterOfTheAddress) {
  expect_loaded("x4.shared.b16", 4, false, "%r2", "%r20");
}

TEST(MatrixMoves, LoadsFromGenericAddresses) {
  expect_loaded("x4.b16", 4, false, "%r2", "%r10",
                "cvt.u64.u32 %l1, %r10; cvta.shared.u64 %l1, %l1;\n");
}

const std::string load_one = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r11}, [%r10];\n";

TEST(MatrixMoves, ChecksTheAddressOfEachRow) {
  const auto of_lane_5 = [](const std::string& address) {
    return tile() + "setp.eq.u32 %p2, %r2, 5;\n@%p2 " + address + load_one;
  };
  EXPECT_FALSE(caught_on("sm_80", tile() + load_one).any);
  const Caught odd = caught_on("sm_80", of_lane_5("add.u32 %r10, %r10, 8;\n"));
  EXPECT_EQ(odd.kind, FaultKind::misaligned_address) << odd.text;
  EXPECT_NE(odd.text.find("thread (5,0,0)"), std::string::npos) << odd.text;
  const Caught outside = caught_on("sm_80", of_lane_5("mov.u32 %r10, 1536;\n"));
  EXPECT_EQ(outside.kind, FaultKind::illegal_address) << outside.text;
  const Caught unwritten =
      caught_on("sm_80", of_lane_5("add.u32 %r10, %r3, 16;\n") + store_u32("%out", "%r11"));
  EXPECT_EQ(unwritten.kind, FaultKind::uninitialised_read) << unwritten.text;
  const Caught global = caught_on("sm_80",
                                  "st.global.v4.u32 [%out], {%r0, %r0, %r0, %r0};\n"
                                  "ldmatrix.sync.aligned.m8n8.x1.b16 {%r11}, [%out];\n");
  EXPECT_EQ(global.kind, FaultKind::illegal_address) << global.text;
  EXPECT_NE(global.text.find("not in shared memory"), std::string::npos) << global.text;
}

TEST(MatrixMoves, NeedsAllAddressesOnTuring) {
  const std::string body =
      tile() + "setp.eq.u32 %p2, %r2, 20;\n@%p2 mov.u32 %r10, 77777;\n" + load_one;
  const Caught turing = caught_on("sm_75", body);
  EXPECT_EQ(turing.kind, FaultKind::illegal_address) << turing.text;
  EXPECT_NE(turing.text.find("thread (20,0,0)"), std::string::npos) << turing.text;
  EXPECT_FALSE(caught_on("sm_75", tile() + load_one).any);
  EXPECT_FALSE(caught_on("sm_80", body).any);
}

// The lane that gives a row's address reads it, and another one wrote it.
TEST(MatrixMoves, OrderNoAccesses) {
  const std::string before =
      ".shared .align 16 .b8 tile[512];\nmov.u32 %r3, tile;\n"
      "xor.b32 %r4, %r2, 1; mad.lo.u32 %r5, %r4, 16, %r3;\n"
      "st.shared.v4.u32 [%r5], {%r2, %r2, %r2, %r2};\n";
  const std::string after = "mad.lo.u32 %r10, %r2, 16, %r3;\n" + load_one;
  const Caught race = caught_on("sm_80", before + after);
  EXPECT_EQ(race.kind, FaultKind::race) << race.text;
  EXPECT_FALSE(caught_on("sm_80", before + "bar.warp.sync -1;\n" + after).any);
}

TEST(MatrixMoves, StoresMatrices) {
  for (const bool transposed : {false, true}) {
    SCOPED_TRACE(transposed);
    // Lane l holds 1000 j + 2 l and the next one of matrix j; rows lie at (5 * lane) % 32.
    std::string body = tile();
    for (int j = 0; j < 4; ++j)
      body += "mad.lo.u32 %r1" + std::to_string(j + 1) + ", %r2, 131074, " +
              std::to_string(1000 * j + ((1000 * j + 1) << 16)) + ";\n";
    body += std::string("stmatrix.sync.aligned.m8n8.x4") + (transposed ? ".trans" : "") +
            ".shared.b16 [%r10], {%r11, %r12, %r13, %r14};\nbar.sync 0;\n" + element("%out", 16) +
            "ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%r10];\n"
            "st.global.v4.u32 [%l31], {%r11, %r12, %r13, %r14};\n";
    const auto out = run_on("sm_90", body, 4);
    for (int line = 0; line < 32; ++line)
      for (int e = 0; e < 8; ++e) {
        const int row = transposed ? e : line % 8, column = transposed ? line % 8 : e;
        const int expected = 1000 * (line / 8) + 8 * row + column;
        const std::uint32_t word = out[static_cast<std::size_t>(line * 4 + e / 2)];
        EXPECT_EQ(word >> (16 * (e % 2)) & 0xffff, static_cast<std::uint32_t>(expected))
            << "line " << line << ", element " << e;
      }
  }
}

TEST(MatrixMoves, StoresAreChecked) {
  const std::string store = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r10], {%r11};\n";
  EXPECT_FALSE(caught_on("sm_90", tile() + store).any);
  EXPECT_EQ(caught_on("sm_90", tile() + "add.u32 %r10, %r10, 4;\n" + store).kind,
            FaultKind::misaligned_address);
  // All lanes write the row of lane 0.
  EXPECT_EQ(caught_on("sm_90", tile() + "mov.u32 %r10, %r3; mov.u32 %r11, %r2;\n" + store).kind,
            FaultKind::race);
}

TEST(MatrixMoves, Transposes) {
  const auto out = run_on("sm_75",
                          "mad.lo.u32 %r3, %r2, 131074, 65536;\n"
                          "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r3;\n" +
                              store_u32("%out", "%r3"),
                          1);
  for (unsigned lane = 0; lane < 32; ++lane) {
    // Element (row, column) was 8 row + column.
    const unsigned column = lane / 4, row = 2 * (lane % 4);
    EXPECT_EQ(out[lane], 8 * row + column + ((8 * (row + 1) + column) << 16)) << lane;
  }
}

TEST(MatrixMoves, NeedTheWholeWarp) {
  for (const std::string& instruction :
       {load_one, std::string("movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r3;\n")}) {
    SCOPED_TRACE(instruction);
    const Caught few = caught_on("sm_80", tile() + instruction, 16);
    EXPECT_EQ(few.kind, FaultKind::divergent_barrier) << few.text;
    EXPECT_NE(few.text.find("0xffff0000"), std::string::npos) << few.text;
    const std::string some = "setp.lt.u32 %p2, %r2, 8;\n";
    const Caught exited = caught_on("sm_80", tile() + some + "@%p2 exit;\n" + instruction);
    EXPECT_EQ(exited.kind, FaultKind::divergent_barrier) << exited.text;
    const Caught guarded = caught_on("sm_80", tile() + some + "@%p2 " + instruction);
    EXPECT_EQ(guarded.kind, FaultKind::divergent_barrier) << guarded.text;
    const Caught waiting =
        caught_on("sm_80", tile() + some + "@%p2 bra END;\n" + instruction + "END: bar.sync 0;\n");
    EXPECT_EQ(waiting.kind, FaultKind::divergent_barrier) << waiting.text;
    // Lanes that have parted come together again.
    EXPECT_FALSE(caught_on("sm_80", tile() + some + "@%p2 bra JOIN;\nadd.u32 %r3, %r3, 0;\nJOIN: " +
                                        instruction)
                     .any);
  }
}

}  // namespace
}  // namespace emulator::test
