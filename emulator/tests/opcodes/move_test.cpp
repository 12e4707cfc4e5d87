#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"
#include "emulator/tests/opcodes/table.h"

// PTX ISA, "mov": copies, packing and unpacking of vectors.
namespace emulator::test {
namespace {

using H = std::uint16_t;
using U = std::uint32_t;
using W = std::uint64_t;

template <class T>
T same(T a) {
  return a;
}

TEST(Move, Copies) {
  std::vector<Row> rows{row("mov.b16 %d, %a;", same<H>),
                        row("mov.u16 %d, %a;", same<H>),
                        row("mov.b32 %d, %a;", same<U>),
                        row("mov.u32 %d, %a;", same<U>),
                        row("mov.s32 %d, %a;", same<std::int32_t>),
                        row("mov.b64 %d, %a;", same<W>),
                        row("mov.u64 %d, %a;", same<W>),
                        row("mov.s64 %d, %a;", same<std::int64_t>)};
  const Reference bits = [](std::span<const std::uint64_t> x) { return Expected(x[0]); };
  // NaNs move unchanged, also between registers of other types.
  rows.push_back({"mov.f32 %d, %a;", "f32", {"f32"}, bits});
  rows.push_back({"mov.f64 %d, %a;", "f64", {"f64"}, bits});
  rows.push_back({"mov.b32 %d, %a;", "u32", {"f32"}, bits});
  rows.push_back({"mov.b32 %d, %a;", "f32", {"s32"}, bits});
  rows.push_back({"mov.b64 %d, %a;", "f64", {"u64"}, bits});
  rows.push_back({"mov.b64 %d, %a;", "s64", {"f64"}, bits});
  check(rows);
}

TEST(Move, Constants) {
  check({row("mov.u32 %d, 0xFFFFFFFF; or.b32 %d, %d, %a;", [](U) { return ~U{0}; }),
         row("mov.s32 %d, -2147483648; and.b32 %d, %d, %a;",
             [](std::int32_t a) { return a & static_cast<std::int32_t>(0x80000000); }),
         row("mov.b64 %d, 0x7FEFFFFFFFFFFFFF; xor.b64 %d, %d, %a;",
             [](W a) { return a ^ 0x7FEFFFFFFFFFFFFF; }),
         row("mov.u64 %d, 18446744073709551615; xor.b64 %d, %d, %a;", [](W a) { return ~a; }),
         row("mov.u16 %d, 65535; xor.b16 %d, %d, %a;", [](H a) { return static_cast<H>(~a); }),
         row("mov.b16 %d, -1; xor.b16 %d, %d, %a;", [](H a) { return static_cast<H>(~a); }),
         row("mov.u32 %d, WARP_SZ; xor.b32 %d, %d, %a;", [](U a) { return a ^ 32; })});
}

// Constant expressions, which nvcc folds and people write.
TEST(Move, OptionalConstantExpressions) {
  std::vector<Row> rows{
      row("mov.u32 %d, 1 << 4 | 3; xor.b32 %d, %d, %a;", [](U a) { return a ^ 19; }),
      row("mov.u32 %d, (7 - 2) * 3 + 1U; xor.b32 %d, %d, %a;", [](U a) { return a ^ 16; })};
  for (Row& each : rows) each.optional = true;
  check(rows);
}

TEST(Move, Packs) {
  check({row("mov.b32 %d, {%a, %b};", [](H a, H b) { return a | U{b} << 16; }),
         row("mov.b64 %d, {%a, %b};", [](U a, U b) { return a | W{b} << 32; }),
         row("mov.b64 %d, {%a, %b, %c, %e};",
             [](H a, H b, H c, H e) { return a | W{b} << 16 | W{c} << 32 | W{e} << 48; }),
         row("mov.b32 %d, {0, %a};", [](H a) { return U{a} << 16; }),
         row("mov.b64 %d, {%a, 5};", [](U a) { return a | W{5} << 32; }),
         row("{ .reg .b8 w, x, y, z; cvt.u8.u32 w, %a; cvt.u8.u32 x, %b; shr.u32 %a, %a, 8; "
             "cvt.u8.u32 y, %a;\n"
             "cvt.u8.u32 z, 9; mov.b32 %d, {w, x, y, z}; }",
             [](U a, U b) {
               return (a & 0xFF) | (b & 0xFF) << 8 | (a >> 8 & 0xFF) << 16 | U{9} << 24;
             }),
         {"mov.b32 %d, {0, %a};",
          "f32",
          {"u16"},
          [](std::span<const std::uint64_t> x) { return Expected(x[0] << 16); }},
         {"mov.b64 %d, {%a, %b};", "f64", {"u32", "u32"}, [](std::span<const std::uint64_t> x) {
            return Expected(x[0] | x[1] << 32);
          }}});
}

TEST(Move, Unpacks) {
  const std::string halves = "{ .reg .b16 w, x, y, z; ", words = "{ .reg .b32 w, x; ";
  check({row("{ .reg .b16 h; mov.b32 {%d, h}, %a; }", [](U a) { return static_cast<H>(a); }),
         row("{ .reg .b16 h; mov.b32 {h, %d}, %a; }", [](U a) { return static_cast<H>(a >> 16); }),
         row("mov.b32 {_, %d}, %a;", [](U a) { return static_cast<H>(a >> 16); }),
         row(words + "mov.b64 {%d, x}, %a; }", [](W a) { return static_cast<U>(a); }),
         row(words + "mov.b64 {w, %d}, %a; }", [](W a) { return static_cast<U>(a >> 32); }),
         row("mov.b64 {_, %d}, %a;", [](W a) { return static_cast<U>(a >> 32); }),
         row(halves + "mov.b64 {w, x, y, %d}, %a; }", [](W a) { return static_cast<H>(a >> 48); }),
         row(halves + "mov.b64 {w, x, %d, z}, %a; }", [](W a) { return static_cast<H>(a >> 32); }),
         // The parts change places although source and destination share registers.
         row("mov.b64 {%a, %b}, %c; mov.b64 %d, {%b, %a};",
             [](U, U, W c) { return c >> 32 | c << 32; })});
}

// Without braces nvcc scopes inline assembly by { }, where an inner name hides an outer one.
TEST(Move, ScopesHideNames) {
  check({row("mov.u32 %d, %a; { .reg .b32 %d; mov.u32 %d, 7; { .reg .b32 %d; mov.u32 %d, 8; } }",
             same<U>),
         row("{ .reg .b32 t<3>; mov.u32 t0, %a; add.u32 t2, t0, 1; mov.u32 %d, t2; }",
             [](U a) { return a + 1; })});
}

// A kernel's and a variable's names are addresses; of variables also with an offset.
TEST(Move, AddressesOfVariables) {
  const auto out = run_u32(
      ".shared .align 8 .b8 s[64];\nmov.u64 %l0, s; mov.u64 %l1, s+24; sub.s64 %l2, %l1, %l0;\n"
      "cvt.u32.u64 %r3, %l2;\n" +
          store_u32("%out", "%r3"),
      {.grid = {1}, .block = {1}});
  EXPECT_EQ(out[0], 24U);
}

}  // namespace
}  // namespace emulator::test
