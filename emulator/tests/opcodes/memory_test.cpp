#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA: ld, st, cvta, isspacep, and variables of the state spaces.
namespace emulator::test {
namespace {

std::vector<std::uint8_t> pattern(std::size_t bytes) {
  std::vector<std::uint8_t> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::uint8_t>(i * 37 + 129);
  return values;
}

// Copies 256 bytes by 256 / size threads with one load and one store.
void check_copy(const std::string& load, const std::string& store, int size,
                const std::string& via = "") {
  SCOPED_TRACE(load + " " + store);
  Device device;
  Kernels kernels(device,
                  module_head() + kernel({"out", "in"}, element("%in", size) + load + "\n" + via +
                                                            element("%out", size) + store));
  const auto in = pattern(256);
  const auto from = device.upload(in);
  const auto to = device.allocate(256);
  kernels.run("test", {.grid = {1}, .block = {static_cast<unsigned>(256 / size)}}, to, from);
  EXPECT_EQ(device.download<std::uint8_t>(to, 256), in);
}

struct Width {
  std::string type;
  int bytes;
  std::string registers;  // "%r"
};

const std::vector<Width> widths{
    {"b8", 1, "%h"},  {"u8", 1, "%h"},  {"s8", 1, "%h"},  {"b16", 2, "%h"}, {"u16", 2, "%h"},
    {"s16", 2, "%h"}, {"b32", 4, "%r"}, {"u32", 4, "%r"}, {"s32", 4, "%r"}, {"f32", 4, "%f"},
    {"b64", 8, "%l"}, {"u64", 8, "%l"}, {"s64", 8, "%l"}, {"f64", 8, "%d"}};

std::string vector_of(const std::string& registers, int count) {
  if (count == 1) return registers + "1";
  std::string text = "{" + registers + "1";
  for (int i = 2; i <= count; ++i) text += ", " + registers + std::to_string(i);
  return text + "}";
}

TEST(Memory, LoadsAndStoresOfAllTypesAndVectors) {
  for (const Width& width : widths) {
    for (const int count : {1, 2, 4}) {
      if (count * width.bytes > 16) continue;
      const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
      const std::string registers = vector_of(width.registers, count),
                        type = vector + "." + width.type;
      for (const char* space : {"", ".global"}) {
        check_copy(std::string("ld") + space + type + " " + registers + ", [%l31];",
                   std::string("st") + space + type + " [%l31], " + registers + ";",
                   count * width.bytes);
      }
    }
  }
}

TEST(Memory, CacheAndOrderModifiers) {
  for (const char* load :
       {"ld.global.nc.u32", "ld.global.ca.u32", "ld.global.cg.u32", "ld.global.cs.u32",
        "ld.global.lu.u32", "ld.global.cv.u32", "ld.volatile.global.u32", "ld.volatile.u32",
        "ld.relaxed.gpu.global.u32", "ld.relaxed.gpu.u32", "ld.acquire.gpu.global.u32",
        "ld.acquire.sys.u32", "ld.relaxed.cta.u32", "ldu.global.u32", "ld.weak.global.u32",
        "ld.global.nc.L1::no_allocate.u32", "ld.global.L1::evict_last.u32",
        "ld.global.nc.L2::128B.u32"}) {
    check_copy(std::string(load) + " %r1, [%l31];", "st.global.u32 [%l31], %r1;", 4);
  }
  for (const char* store :
       {"st.global.wb.u32", "st.global.cg.u32", "st.global.cs.u32", "st.global.wt.u32",
        "st.volatile.global.u32", "st.relaxed.gpu.global.u32", "st.release.gpu.global.u32",
        "st.release.sys.u32", "st.weak.global.u32"}) {
    check_copy("ld.global.u32 %r1, [%l31];", std::string(store) + " [%l31], %r1;", 4);
  }
  for (const char* vector : {".v2.u32", ".v2.u64", ".v4.u32"}) {
    const std::string type(vector);
    const bool wide = type == ".v2.u64";
    const std::string registers = vector_of(wide ? "%l" : "%r", type == ".v4.u32" ? 4 : 2);
    check_copy("ld.relaxed.gpu" + type + " " + registers + ", [%l31];",
               "st.relaxed.gpu" + type + " [%l31], " + registers + ";", type == ".v2.u32" ? 8 : 16);
    check_copy("ld.global.nc" + type + " " + registers + ", [%l31];",
               "st.volatile.global" + type + " [%l31], " + registers + ";",
               type == ".v2.u32" ? 8 : 16);
  }
}

TEST(Memory, ReadOnlyLoadsOfAllWidths) {
  for (const Width& width : widths) {
    const std::string name = width.registers + "1";
    check_copy("ld.global.nc." + width.type + " " + name + ", [%l31];",
               "st.global." + width.type + " [%l31], " + name + ";", width.bytes);
  }
}

TEST(Memory, OffsetsInAddresses) {
  check_copy("add.s64 %l1, %l31, 1000; ld.global.u32 %r1, [%l1+-1000];",
             "sub.s64 %l1, %l31, 8; st.global.u32 [%l1+8], %r1;", 4);
}

// Vector elements that nobody wants may be named `_`.
TEST(Memory, VectorsWithHoles) {
  check_copy("ld.global.v4.u8 {%h1, _, %h3, _}, [%l31]; ld.global.v4.u8 {_, %h2, _, %h4}, [%l31];",
             "st.global.v4.u8 [%l31], {%h1, %h2, %h3, %h4};", 4);
}

TEST(Memory, ThroughSharedAndLocalMemory) {
  for (const std::string space : {"shared", "local"}) {
    for (const Width& width : widths) {
      for (const int count : {1, 2, 4}) {
        const int bytes = count * width.bytes;
        if (bytes > 16) continue;
        const std::string type =
            (count == 1 ? "." : ".v" + std::to_string(count) + ".") + width.type;
        const std::string registers = vector_of(width.registers, count);
        check_copy(
            "ld.global" + type + " " + registers + ", [%l31];",
            "st.global" + type + " [%l31], " + registers + ";", bytes,
            "." + space +
                " .align 16 .b8 place[4096];\nmov.u64 %l5, place; mul.wide.u32 %l6, %r0, 16;\n"
                "add.s64 %l5, %l5, %l6; st." +
                space + type + " [%l5], " + registers +
                ";\n"
                "ld." +
                space + type + " " + registers + ", [%l5];\n");
      }
    }
  }
}

// nvcc addresses shared memory through 32-bit registers.
TEST(Memory, SharedMemoryThroughNarrowAddresses) {
  const auto out = run_u32(
      ".shared .align 16 .b8 buffer[512];\nmov.u32 %r3, buffer; shl.b32 %r4, %r2, 2; add.s32 %r5, "
      "%r3, %r4;\n"
      "st.shared.u32 [%r5], %r2; atom.shared.add.u32 %r6, [%r5], 1000; st.volatile.shared.u32 "
      "[%r5+256], %r6;\n"
      "bar.sync 0; xor.b32 %r7, %r4, 12; add.s32 %r7, %r3, %r7; ld.shared.u32 %r8, [%r7];\n"
      "ld.volatile.shared.u32 %r9, [%r7+256]; mad.lo.u32 %r8, %r9, 10000, %r8;\n" +
          store_u32("%out", "%r8"),
      {.grid = {2}, .block = {64}});
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], (i % 64 ^ 3) * 10001 + 1000);
  }
}

// s8 and s16 extend with the sign, u8, b8 and u16 with zeros; to all wider registers.
TEST(Memory, NarrowLoadsExtend) {
  struct Case {
    const char* load;
    std::uint32_t expected;
  };
  for (const Case& each :
       {Case{"ld.global.u8 %r3, [%in];", 0x81}, Case{"ld.global.s8 %r3, [%in];", 0xFFFFFF81},
        Case{"ld.global.b8 %r3, [%in];", 0x81}, Case{"ld.global.u16 %r3, [%in];", 0xFE81},
        Case{"ld.global.s16 %r3, [%in];", 0xFFFFFE81},
        Case{"ld.global.s8 %h1, [%in]; cvt.u32.u16 %r3, %h1;", 0xFF81},
        Case{"ld.global.u8 %h1, [%in]; cvt.u32.u16 %r3, %h1;", 0x81},
        Case{"ld.global.s32 %l1, [%in]; shr.s64 %l1, %l1, 32; cvt.u32.u64 %r3, %l1;", 0xFFFFFFFF},
        Case{"ld.global.u32 %l1, [%in]; shr.u64 %l1, %l1, 32; cvt.u32.u64 %r3, %l1;", 0},
        Case{"ld.global.v2.s8 {%r3, %r4}, [%in];", 0xFFFFFF81},
        Case{"ld.global.s8 %l1, [%in+1]; cvt.u32.u64 %r3, %l1;", 0xFFFFFFFE}}) {
    SCOPED_TRACE(each.load);
    const auto out = run_u32(std::string(each.load) + "\n" + store_u32("%out", "%r3"),
                             {.grid = {1}, .block = {1}}, {0x8000FE81});
    EXPECT_EQ(out[0], each.expected);
  }
}

// A narrow store writes its own bytes and no others.
TEST(Memory, NarrowStoresCut) {
  const auto out = run_u32(
      "mov.u32 %r3, 0x12345678; mov.b32 %r4, 0xFFFFFFFF; st.global.u32 [%out], %r4;\n"
      "st.global.u8 [%out+1], %r3; st.global.u16 [%out+2], %r3;",
      {.grid = {1}, .block = {1}});
  EXPECT_EQ(out[0], 0x567878FFU);
}

TEST(Memory, IsLittleEndian) {
  const auto out = run_u32(
      "mov.u32 %r3, 0x11223344; st.global.u32 [%out+4], %r3; ld.global.u8 %r4, [%out+4];\n"
      "st.global.u32 [%out], %r4;",
      {.grid = {1}, .block = {1}}, {0}, 2);
  EXPECT_EQ(out[0], 0x44U);
}

// Each thread's local memory is its own, also through generic addresses, as nvcc addresses it.
TEST(Memory, LocalDepot) {
  const std::string body =
      ".local .align 8 .b8 __local_depot0[16];\n.reg .b64 %SP, %SPL;\nmov.u64 %SPL, "
      "__local_depot0;\n"
      "cvta.local.u64 %SP, %SPL; add.u64 %l1, %SP, 8; add.u64 %l2, %SPL, 8;\n"
      "st.local.u32 [%l2], %r0; bar.sync 0; ld.u32 %r3, [%l1]; st.u32 [%SP], %r3; ld.local.u32 "
      "%r4, [%SPL];\n" +
      store_u32("%out", "%r4");
  const auto out = run_u32(body, {.grid = {3}, .block = {64}});
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i);
}

// A launch without clusters.
TEST(Memory, SharedMemoryOfTheCluster) {
  const std::string body =
      ".shared .align 4 .b8 place[4];\nmov.u64 %l1, place; st.shared::cluster.u32 [%l1], 5;\n"
      "cvta.shared::cluster.u64 %l2, %l1; isspacep.shared::cluster %p1, %l2;\n"
      "atom.relaxed.cluster.shared::cluster.add.u32 %r3, [%l1], 2;\n"
      "ld.shared::cluster.u32 %r4, [%l1]; mad.lo.u32 %r3, %r3, 10, %r4;\n"
      "@!%p1 mov.u32 %r3, 0;\n" +
      store_u32("%out", "%r3");
  EXPECT_EQ(run_u32(body, {.grid = {1}, .block = {1}}, {0}, 1, "", 90),
            std::vector<std::uint32_t>{57});
  EXPECT_TRUE(caught_from([&] { run_u32(body, {.grid = {1}, .block = {1}}); }).any);
}

TEST(Memory, SpacesOfGenericAddresses) {
  const std::string bits =
      "isspacep.global %p1, %l9; isspacep.shared %p2, %l9; isspacep.local %p3, %l9; isspacep.const "
      "%p4, %l9;\n"
      "selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; selp.u32 %r5, 4, 0, %p3; selp.u32 %r6, 8, "
      "0, %p4;\n"
      "or.b32 %r3, %r3, %r4; or.b32 %r5, %r5, %r6; or.b32 %r3, %r3, %r5;\n" +
      store_u32("%out", "%r3");
  const std::string variables = ".global .align 4 .u32 g = 1;\n.const .align 4 .u32 c = 2;\n";
  struct Case {
    const char* address;
    std::uint32_t expected;
  };
  for (const Case& each :
       {Case{"mov.u64 %l9, %in;", 1}, Case{"mov.u64 %l8, g; cvta.global.u64 %l9, %l8;", 1},
        Case{".shared .u32 s; mov.u64 %l8, s; cvta.shared.u64 %l9, %l8;", 2},
        Case{".local .u32 t; mov.u64 %l8, t; cvta.local.u64 %l9, %l8;", 4},
        Case{"mov.u64 %l8, c; cvta.const.u64 %l9, %l8;", 8},
        Case{"cvta.to.global.u64 %l8, %in; cvta.global.u64 %l9, %l8;", 1}}) {
    SCOPED_TRACE(each.address);
    const auto out = run_u32(std::string(each.address) + "\n" + bits, {.grid = {1}, .block = {32}},
                             {0}, 1, variables);
    for (const std::uint32_t x : out) ASSERT_EQ(x, each.expected);
  }
}

// To a generic address and back, for loads and stores of both kinds.
TEST(Memory, GenericAddressesRoundTrip) {
  const std::string body =
      ".shared .align 4 .b8 buffer[256];\nmov.u64 %l1, buffer; mul.wide.u32 %l2, %r0, 4; add.s64 "
      "%l1, %l1, %l2;\n"
      "cvta.shared.u64 %l3, %l1; st.u32 [%l3], %r0; cvta.to.shared.u64 %l4, %l3; ld.shared.u32 "
      "%r3, [%l4];\n" +
      store_u32("%out", "%r3");
  const auto out = run_u32(body, {.grid = {1}, .block = {64}});
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i);
}

TEST(Memory, InitialisedVariables) {
  const std::string variables =
      ".global .align 4 .u32 table[4] = {1, 0x22, 033, -4};\n.const .align 8 .f64 half = "
      "0d3FE0000000000000;\n"
      ".global .align 1 .b8 bytes[6] = {104, 101, 108, 108, 111};\n.global .align 4 .f32 x[2] = "
      "{0f40000000, 1.5};\n"
      ".global .align 8 .u64 pointer = table;\n.global .align 8 .u64 generics[1] = "
      "{generic(table)+8};\n"
      ".const .align 4 .b32 zeros[8];\n.visible .global .align 4 .u32 counter;\n";
  const auto expect = [&](const std::string& load, std::uint32_t expected) {
    SCOPED_TRACE(load);
    const auto out = run_u32(load + "\n" + store_u32("%out", "%r3"), {.grid = {1}, .block = {1}},
                             {0}, 1, variables);
    EXPECT_EQ(out[0], expected);
  };
  expect("ld.global.u32 %r3, [table];", 1);
  expect("ld.global.u32 %r3, [table+4];", 0x22);
  expect("mov.u64 %l1, table; ld.global.u32 %r3, [%l1+8];", 27);
  expect("mov.u64 %l1, table; add.s64 %l1, %l1, 12; ld.global.u32 %r3, [%l1];", 0xFFFFFFFC);
  expect("ld.const.u32 %r3, [half+4];", 0x3FE00000);
  expect("ld.global.u8 %r3, [bytes+4];", 111);
  expect("ld.global.u8 %r3, [bytes+5];", 0);
  expect("ld.global.b32 %r3, [x];", 0x40000000);
  expect("ld.global.b32 %r3, [x+4];", 0x3FC00000);
  expect("ld.global.u64 %l1, [pointer]; ld.global.u32 %r3, [%l1+4];", 0x22);
  expect("ld.global.u64 %l1, [generics]; ld.u32 %r3, [%l1];", 27);
  expect("ld.const.u32 %r3, [zeros+28];", 0);
  expect("ld.global.u32 %r3, [counter];", 0);
  expect("mov.u64 %l2, half; cvta.const.u64 %l1, %l2; ld.u32 %r3, [%l1+4];", 0x3FE00000);
}

// A variable lives on each GPU, keeps its value between launches, and has an address for the host.
TEST(Memory, VariablesKeepTheirValue) {
  Device device(2);
  Kernels kernels(
      device,
      module_head() + ".visible .global .align 4 .u32 counter = 40;\n" +
          kernel({"out"}, "atom.global.add.u32 %r3, [counter], 1;\nst.global.u32 [%out], %r3;"));
  for (int gpu = 0; gpu < 2; ++gpu) {
    for (std::uint32_t launch = 0; launch < 2; ++launch) {
      const auto out = device.allocate(4, gpu);
      kernels.run("test", {.grid = {1}, .block = {1}, .gpu = gpu}, out);
      EXPECT_EQ(device.download<std::uint32_t>(out, 1)[0], 40 + launch);
    }
    std::size_t bytes = 0;
    const auto address = kernels.program().variable("counter", gpu, &bytes);
    EXPECT_EQ(bytes, 4U);
    EXPECT_EQ(device.download<std::uint32_t>(address, 1)[0], 42U);
  }
  EXPECT_NE(kernels.program().variable("counter", 0), kernels.program().variable("counter", 1));
  EXPECT_EQ(kernels.program().variable("nothing", 0), 0U);
}

// `extern .shared` begins after the static variables and is as long as the launch says.
TEST(Memory, DynamicSharedMemory) {
  Device device;
  Kernels kernels(
      device,
      module_head() + ".extern .shared .align 16 .b8 dynamic[];\n" +
          kernel({"out"},
                 ".shared .align 4 .b8 fixed[12];\nmov.u32 %r3, %tid.x;\n"
                 "mov.u64 %l1, dynamic; mul.wide.u32 %l2, %r3, 8; add.s64 %l1, %l1, %l2;\n"
                 "mov.u32 %r5, 7; setp.eq.u32 %p1, %r3, 0; @%p1 st.shared.u32 [fixed+8], %r5;\n"
                 "st.shared.u64 [%l1], %l2; bar.sync 0; ld.shared.u32 %r4, [%l1];\n" +
                     store_u32("%out", "%r4")));
  const auto out = device.allocate(64 * 4);
  kernels.run("test", {.grid = {1}, .block = {64}, .dynamic_shared_bytes = 512}, out);
  const auto values = device.download<std::uint32_t>(out, 64);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], 8 * i);
  EXPECT_EQ(kernels.program().facts("test").static_shared_bytes, 12U);
}

}  // namespace
}  // namespace emulator::test
