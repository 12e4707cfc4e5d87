#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA: cp.async and cp.async.bulk without tensors. Thread i copies element i into its own part
// of shared memory, waits and stores what it finds there.
namespace emulator::test {
namespace {

const std::string place =
    ".shared .align 16 .b8 place[1024];\nmov.u32 %r10, place;\nmul.lo.u32 %r11, %r0, 16;\n"
    "add.u32 %r10, %r10, %r11;\ncvt.u64.u32 %l10, %r10;\nmov.u64 %l12, %in;\n"
    "mul.wide.u32 %l11, %r0, 16;\nadd.u64 %l12, %l12, %l11;\n";
const std::string wait = "cp.async.commit_group;\ncp.async.wait_group 0;\n";
const std::string barrier =
    ".shared .align 8 .b8 object[8];\nmov.u32 %r12, object;\n"
    "setp.eq.u32 %p2, %r0, 0;\n@%p2 mbarrier.init.shared.b64 [%r12], 8;\nbar.sync 0;\n";

std::string until(const std::string& parity) {
  return "AGAIN: mbarrier.test_wait.parity.shared.b64 %p3, [%r12], " + parity +
         ";\n@!%p3 bra AGAIN;\n";
}

std::vector<std::uint32_t> input(unsigned threads) {
  std::vector<std::uint32_t> values(4 * threads);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0x04030201u + 0x10101010u * static_cast<std::uint32_t>(i % 8);
  return values;
}

// Each of eight threads fills its 16 bytes with ones, runs the body, and returns them.
std::vector<std::uint32_t> run(const std::string& body, int capability = 90) {
  std::string text = place + "mov.u32 %r5, -1;\n";
  for (const char* offset : {"", "+4", "+8", "+12"})
    text += std::string("st.shared.u32 [%r10") + offset + "], %r5;\n";
  text += body;
  text +=
      "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r10];\nmul.wide.u32 %l30, %r0, 16;\n"
      "add.s64 %l30, %l30, %out;\nst.global.v4.u32 [%l30], {%r20, %r21, %r22, %r23};\n";
  return run_u32(text, {.grid = {1}, .block = {8}}, input(8), 4, "", capability);
}

// The first `bytes` come from the source, `zeros` follow, and ones remain.
std::vector<std::uint32_t> expected(unsigned bytes, unsigned zeros) {
  auto values = input(8);
  auto* const each = reinterpret_cast<std::uint8_t*>(values.data());
  for (std::size_t i = 0; i < values.size() * 4; ++i) {
    if (i % 16 >= bytes) each[i] = i % 16 < bytes + zeros ? 0 : 0xff;
  }
  return values;
}

TEST(AsyncCopy, SizesAndZeros) {
  for (const unsigned size : {4U, 8U, 16U}) {
    for (const unsigned bytes : {0U, 1U, 4U, 7U, size}) {
      if (bytes > size) continue;
      for (const std::string kind : {"ca", "cg"}) {
        if (kind == "cg" && size != 16) continue;
        SCOPED_TRACE(kind + " " + std::to_string(size) + " " + std::to_string(bytes));
        const std::string head =
            "cp.async." + kind + ".shared.global [%r10], [%l12], " + std::to_string(size) + ", ";
        const auto right = expected(bytes, size - bytes);
        EXPECT_EQ(run(head + std::to_string(bytes) + ";\n" + wait, 80), right);
        EXPECT_EQ(run("mov.u32 %r6, " + std::to_string(bytes) + ";\n" + head + "%r6;\n" + wait, 80),
                  right);
      }
    }
  }
}

TEST(AsyncCopy, Spellings) {
  for (const char* copy : {"cp.async.ca.shared.global [%r10], [%l12], 16;",
                           "cp.async.cg.shared::cta.global [%l10], [%l12], 16;",
                           "cp.async.cg.shared.global.L2::128B [%r10], [%l12], 16;",
                           "cp.async.ca.shared.global.L2::64B [%r10], [%l12], 16;",
                           "cp.async.cg.shared.global.L2::cache_hint [%r10], [%l12], 16, %l1;",
                           "cp.async.cg.shared.global.L2::cache_hint.L2::256B [%r10], [%l12], 16, "
                           "16, %l1;",
                           "cp.async.ca.shared.global [%r10+8], [%l12+8], 8; "
                           "cp.async.ca.shared.global [%r10], [%l12], 8;"}) {
    SCOPED_TRACE(copy);
    EXPECT_EQ(run(std::string(copy) + "\n" + wait, 80), expected(16, 0));
    EXPECT_EQ(run(std::string(copy) + "\ncp.async.wait_all;\n", 80), expected(16, 0));
  }
}

TEST(AsyncCopy, IgnoredSource) {
  const std::string head = "setp.eq.u32 %p1, %r0, %r0;\ncp.async.cg.shared.global [%r10], ";
  EXPECT_EQ(run(head + "[%l12], 16, %p1;\n" + wait, 80), expected(0, 16));
  EXPECT_EQ(run(head + "[%l12], 16, !%p1;\n" + wait, 80), expected(16, 0));
  // It need not even exist.
  EXPECT_EQ(run("mov.u64 %l12, 0;\n" + head + "[%l12], 16, %p1;\n" + wait, 80), expected(0, 16));
}

TEST(AsyncCopy, SourceSizeIsAtMostTheSize) {
  const Caught caught =
      caught_from([] { run("cp.async.ca.shared.global [%r10], [%l12], 4, 5;\n" + wait, 80); });
  EXPECT_EQ(caught.kind, FaultKind::undefined) << caught.text;
}

// wait_group 1 covers the first group only; empty groups count.
TEST(AsyncCopy, Groups) {
  const std::string first =
                        "cp.async.ca.shared.global [%r10], [%l12], 4;\ncp.async.commit_group;\n",
                    second =
                        "cp.async.ca.shared.global [%r10+4], [%l12], 4;\ncp.async.commit_group;\n",
                    read_first = "ld.shared.u32 %r6, [%r10];\n",
                    read_second = "ld.shared.u32 %r6, [%r10+4];\n";
  EXPECT_NO_THROW(run(first + second + "cp.async.wait_group 1;\n" + read_first + wait, 80));
  EXPECT_NO_THROW(run(first +
                          "cp.async.commit_group;\ncp.async.commit_group;\n"
                          "cp.async.wait_group 2;\n" +
                          read_first,
                      80));
  for (const std::string& wrong :
       {first + second + "cp.async.wait_group 1;\n" + read_second + wait,
        first + "cp.async.wait_group 1;\n" + read_first + wait,
        "cp.async.ca.shared.global [%r10], [%l12], 4;\ncp.async.wait_group 0;\n" + read_first +
            wait}) {
    EXPECT_EQ(caught_from([&] { run(wrong, 80); }).kind, FaultKind::race) << wrong;
  }
}

TEST(AsyncCopy, ArrivesAtAnMbarrier) {
  const std::string copy = "cp.async.ca.shared.global [%r10], [%l12], 16;\n";
  // .noinc is one of the eight arrivals; without, it brings its own.
  for (const std::string arrive :
       {"cp.async.mbarrier.arrive.noinc.shared.b64 [%r12];\n",
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r12];\n",
        "cp.async.mbarrier.arrive.shared.b64 [%r12];\nmbarrier.arrive.shared.b64 _, [%r12];\n",
        "cvt.u64.u32 %l13, %r12; cvta.shared.u64 %l13, %l13; cp.async.mbarrier.arrive.noinc.b64 "
        "[%l13];\n"}) {
    SCOPED_TRACE(arrive);
    EXPECT_EQ(run(barrier + copy + arrive + until("0"), 80), expected(16, 0));
  }
  const std::string both =
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%r12];\nmbarrier.arrive.shared.b64 _, [%r12];\n";
  EXPECT_TRUE(caught_from([&] { run(barrier + copy + both + until("0"), 80); }).any);
}

const std::string load_head =
    "@%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r12], 128;\n@%p2 ";

TEST(BulkCopy, Loads) {
  for (const std::string copy :
       {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%in], 128, "
        "[%r12];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%in], 128, [%r12];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r10], "
        "[%in], 128, [%r12], %l1;"}) {
    SCOPED_TRACE(copy);
    EXPECT_EQ(
        run(barrier + load_head + copy + "\nmbarrier.arrive.shared.b64 _, [%r12];\n" + until("0")),
        expected(16, 0));
  }
}

TEST(BulkCopy, WithinSharedMemory) {
  EXPECT_EQ(
      run(barrier +
          "st.shared.u32 [%r10+512], %r0;\nst.shared.u32 [%r10+516], %r0;\n"
          "st.shared.u32 [%r10+520], %r0;\nst.shared.u32 [%r10+524], %r0;\n"
          "fence.proxy.async.shared::cta;\nbar.sync 0;\nadd.u32 %r13, %r10, 512;\n" +
          load_head +
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], [%r13], "
          "128, [%r12];\nmbarrier.arrive.shared.b64 _, [%r12];\n" +
          until("0")),
      [] {
        std::vector<std::uint32_t> values;
        for (std::uint32_t i = 0; i < 32; ++i) values.push_back(i / 4);
        return values;
      }());
}

TEST(BulkCopy, Stores) {
  for (const std::string wait_for : {"", ".read"}) {
    for (const std::string hint : {"", ".L2::cache_hint"}) {
      SCOPED_TRACE(wait_for + hint);
      const std::string body =
          place +
          "st.shared.v4.u32 [%r10], {%r0, %r0, %r0, %r0};\n"
          "fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p1, %r0, 0;\n"
          "@%p1 ret;\ncp.async.bulk.global.shared::cta.bulk_group" +
          hint + " [%out], [%r10], 128" + (hint.empty() ? "" : ", %l1") +
          ";\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group" + wait_for + " 0;\n";
      const auto out = run_u32(body, {.grid = {1}, .block = {8}}, input(8), 4, "", 90);
      for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i / 4);
    }
  }
}

TEST(BulkCopy, PrefetchIsNoOperation) {
  EXPECT_EQ(run("cp.async.bulk.prefetch.L2.global [%in], 64;\n"
                "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%in], 64, %l1;\n"),
            expected(0, 0));
}

TEST(BulkCopy, KeepsItsMbarrierUntilTheWait) {
  const std::string end = "mbarrier.arrive.shared.b64 _, [%r12];\n",
                    load = barrier + load_head +
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                           "[%r10], [%in], 128, [%r12];\n" +
                           end,
                    inval = "bar.sync 0;\n@%p2 mbarrier.inval.shared.b64 [%r12];\n";
  EXPECT_EQ(run(load + until("0") + inval), expected(16, 0));
  const Caught caught = caught_from([&] { run(load + inval); });
  EXPECT_EQ(caught.kind, FaultKind::undefined) << caught.text;
}

TEST(BulkCopy, SizeAndAlignment) {
  const auto load = [](const std::string& to, const std::string& from, const std::string& bytes) {
    return caught_from([&] {
      run(barrier +
          "add.u64 %l13, %in, 8;\n@%p2 "
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" +
          to + "], [" + from + "], " + bytes + ", [%r12];\n");
    });
  };
  EXPECT_EQ(load("%r10", "%in", "24").kind, FaultKind::undefined);
  EXPECT_EQ(load("%r10+8", "%in", "16").kind, FaultKind::misaligned_address);
  EXPECT_EQ(load("%r10", "%l13", "16").kind, FaultKind::misaligned_address);
  EXPECT_EQ(load("%r10", "%in", "144").kind, FaultKind::illegal_address);
  EXPECT_EQ(load("%r10+1024", "%in", "16").kind, FaultKind::illegal_address);
}

// The moment of a copy is drawn: without a wait, a store to global memory is seen or not.
TEST(BulkCopy, MomentsDiffer) {
  std::set<bool> found;
  const std::string body = place +
                           "mov.u64 %l14, place;\nst.shared.v4.u32 [place], {%r0, %r0, %r0, %r0};\n"
                           "fence.proxy.async;\n"
                           "cp.async.bulk.global.shared::cta.bulk_group [%in], [place], 16;\n"
                           "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
                           "ld.global.u32 %r5, [%in];\n" +
                           store_u32("%out", "%r5");
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    Device device;
    Kernels kernels(device, module_head("sm_90") + kernel({"out", "in"}, body));
    kernels.settings.seed = seed;
    const auto in = device.upload(std::vector<std::uint32_t>(4, 9)), out = device.allocate(4);
    kernels.run("test", {.grid = {1}, .block = {1}}, out, in);
    found.insert(device.download<std::uint32_t>(out, 1)[0] == 0);
    EXPECT_EQ(device.download<std::uint32_t>(in, 4), std::vector<std::uint32_t>(4, 0));
  }
  EXPECT_EQ(found.size(), 2U);
}

}  // namespace
}  // namespace emulator::test
