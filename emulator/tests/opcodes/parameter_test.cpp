#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// Kernel parameters: their layout, and ld.param of all sizes.
namespace emulator::test {
namespace {

TEST(Parameter, MixedSizesLieAtTheirAlignments) {
  const std::string text =
      module_head() +
      ".visible .entry test(.param .u8 a, .param .u32 b, .param .u16 c, .param .f64 d, .param .u8 "
      "e,\n"
      ".param .align 16 .b8 f[20], .param .s8 g, .param .u64 out, .param .align 4 .b8 h[1])\n{\n"
      ".reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .f64 %d1;\n"
      "ld.param.u64 %l1, [out];\n"
      "ld.param.u8 %h1, [a]; st.global.u8 [%l1], %h1;\n"
      "ld.param.u32 %r1, [b]; st.global.u32 [%l1+4], %r1;\n"
      "ld.param.u16 %h2, [c]; st.global.u16 [%l1+8], %h2;\n"
      "ld.param.f64 %d1, [d]; st.global.f64 [%l1+16], %d1;\n"
      "ld.param.u8 %h3, [e]; st.global.u8 [%l1+24], %h3;\n"
      "ld.param.v4.u32 {%r2, %r3, %r4, %r5}, [f]; st.global.v4.u32 [%l1+32], {%r2, %r3, %r4, "
      "%r5};\n"
      "ld.param.v2.u16 {%h4, %h5}, [f+16]; st.global.v2.u16 [%l1+48], {%h4, %h5};\n"
      "ld.param.s8 %r6, [g]; st.global.u32 [%l1+52], %r6;\n"
      "ld.param.b8 %h6, [h+0]; st.global.u8 [%l1+56], %h6;\n"
      "ld.param.v2.u8 {%h7, %h8}, [f+18]; st.global.v2.u8 [%l1+58], {%h7, %h8};\n"
      "ld.param.v2.u32 {%r7, %r8}, [f+8]; xor.b32 %r7, %r7, %r8; st.global.u32 [%l1+60], "
      "%r7;\nret;\n}\n";
  Device device;
  Kernels kernels(device, text);

  const auto parameters = kernels.program().parameters("test");
  const std::vector<std::size_t> offsets{0, 4, 8, 16, 24, 32, 52, 56, 64},
      sizes{1, 4, 2, 8, 1, 20, 1, 8, 1};
  ASSERT_EQ(parameters.size(), offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_EQ(parameters[i].offset, offsets[i]) << i;
    EXPECT_EQ(parameters[i].bytes, sizes[i]) << i;
  }

  const auto out = device.upload(std::vector<std::uint8_t>(64, 0));
  std::array<std::uint8_t, 20> f{};
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = static_cast<std::uint8_t>(200 + i);
  kernels.run("test", {.grid = {1}, .block = {1}}, std::uint8_t{0x81}, std::uint32_t{0x12345678},
              std::uint16_t{0xABCD}, 1.5, std::uint8_t{7}, f, std::int8_t{-3}, out,
              std::uint8_t{99});
  const auto bytes = device.download<std::uint8_t>(out, 64);
  const auto u32 = [&](std::size_t at) {
    return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 |
           static_cast<std::uint32_t>(bytes[at + 3]) << 24;
  };
  EXPECT_EQ(bytes[0], 0x81);
  EXPECT_EQ(u32(4), 0x12345678U);
  EXPECT_EQ(u32(8), 0xABCDU);
  EXPECT_EQ(u32(20), 0x3FF80000U);
  EXPECT_EQ(bytes[24], 7);
  for (std::size_t i = 0; i < f.size(); ++i) EXPECT_EQ(bytes[32 + i], 200 + i);
  EXPECT_EQ(u32(52), 0xFFFFFFFDU);
  EXPECT_EQ(bytes[56], 99);
  EXPECT_EQ(bytes[58], 218);
  EXPECT_EQ(bytes[59], 219);
  EXPECT_EQ(u32(60), u32(40) ^ u32(44));
}

// nvcc indexes arrays in a parameter through its address.
TEST(Parameter, AddressesAndOffsets) {
  const std::string text =
      module_head() +
      ".visible .entry test(.param .u64 out, .param .align 4 .b8 table[128])\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %l<9>;\nmov.b64 %l1, table; ld.param.u64 %l2, [out];\n"
      "mov.u32 %r1, %tid.x; mul.wide.u32 %l3, %r1, 4; add.s64 %l1, %l1, %l3; add.s64 %l2, %l2, "
      "%l3;\n"
      "ld.param.u32 %r2, [%l1]; ld.param.u32 %r3, [table+8]; add.u32 %r2, %r2, %r3;\n"
      "st.global.u32 [%l2], %r2; ret;\n}\n";
  Device device;
  Kernels kernels(device, text);
  std::array<std::uint32_t, 32> table{};
  for (std::uint32_t i = 0; i < 32; ++i) table[i] = i * i;
  const auto out = device.allocate(128);
  kernels.run("test", {.grid = {1}, .block = {32}}, out, table);
  const auto values = device.download<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], i * i + 4);
}

TEST(Parameter, FactsOfAKernel) {
  const std::string text =
      module_head() +
      ".visible .entry first(.param .u64 a, .param .u16 b)\n.maxntid 128, 2, 1\n.minnctapersm "
      "2\n{\n"
      ".shared .align 16 .b8 s[40]; .local .align 8 .b8 t[24]; .reg .b64 %l1; mov.u64 %l1, s; "
      "mov.u64 %l1, t; ret;\n}\n"
      ".entry second()\n.reqntid 64, 1, 1\n{\nret;\n}\n.func helper()\n{\nret;\n}\n";
  Device device;
  Kernels kernels(device, text);
  Program& program = kernels.program();
  const auto names = program.kernels();
  EXPECT_EQ(names.size(), 2U);
  EXPECT_EQ(program.facts("first").max_threads, 256);
  EXPECT_EQ(program.facts("first").static_shared_bytes, 40U);
  EXPECT_GE(program.facts("first").local_bytes, 24U);
  EXPECT_GE(program.facts("first").parameter_bytes, 10U);
  EXPECT_EQ(program.facts("second").required_threads, (std::array<unsigned, 3>{64, 1, 1}));
  EXPECT_THROW(program.facts("helper"), std::out_of_range);
  kernels.run("second", {.grid = {1}, .block = {64}});
}

}  // namespace
}  // namespace emulator::test
