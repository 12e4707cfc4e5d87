#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "emulator/tests/module.h"
#include "emulator/tests/opcodes/operand.h"
#include "emulator/tests/opcodes/wgmma_support.h"

// PTX ISA: wgmma.mma_async.
namespace emulator::test {

static void PrintTo(const WgmmaCase& c, std::ostream* out) {
  *out << instruction_of(c) << (c.has_a_registers ? ", a in registers" : "");
}

namespace {

constexpr UnitModel f16_unit{16, 25, -133}, f16_in_f16{16, 25, -21}, tf32_unit{8, 25, -133},
    f8_unit{32, 13, -133, 13}, f8_in_f16{32, 13, -133};
constexpr SharedLayout plain{}, plain_by_columns{0, true, true}, k32{32}, k64{64}, k128{128},
    mn_plain{0, false}, mn_plain_by_columns{0, false, true}, mn32{32, false}, mn64{64, false},
    mn128{128, false}, mn128_by_columns{128, false, true}, mn32_by_columns{32, false, true},
    k128_moved{128, true, false, 3}, k32_moved{32, true, false, 1}, mn64_moved{64, false, false, 6};

constexpr WgmmaCase cases[] = {
    // Each layout of a and of b, both majors.
    {"f32", "f16", "f16", 64, 16, plain, plain, false, f16_unit, 4},
    {"f32", "f16", "f16", 64, 16, plain_by_columns, plain_by_columns, false, f16_unit, 4},
    {"f32", "f16", "f16", 64, 16, k32, k32, false, f16_unit, 4},
    {"f32", "f16", "f16", 64, 16, k64, k64, false, f16_unit, 4},
    {"f32", "f16", "f16", 64, 16, k128, k128, false, f16_unit, 4},
    {"f32", "f16", "f16", 64, 16, mn_plain, mn_plain, false, f16_unit, 4},
    {"f32", "bf16", "bf16", 64, 16, mn_plain_by_columns, mn_plain_by_columns, false, f16_unit, 4},
    {"f32", "bf16", "bf16", 64, 16, mn32, mn32, false, f16_unit, 4},
    {"f32", "bf16", "bf16", 64, 16, mn32_by_columns, mn32_by_columns, false, f16_unit, 4},
    {"f32", "bf16", "bf16", 64, 16, mn64, mn64, false, f16_unit, 4},
    {"f32", "f16", "f16", 128, 16, mn128, mn128, false, f16_unit, 4},
    {"f32", "f16", "f16", 192, 16, mn128_by_columns, mn128_by_columns, false, f16_unit, 4},
    {"f32", "f16", "f16", 128, 16, k128, mn128, false, f16_unit, 4},
    // A pattern that begins elsewhere.
    {"f32", "f16", "f16", 64, 16, k128_moved, k32_moved, false, f16_unit, 4},
    {"f32", "f16", "f16", 64, 16, k32_moved, mn64_moved, false, f16_unit, 4},
    // Each type, and several n.
    {"f32", "f16", "f16", 8, 16, k32, k32, false, f16_unit},
    {"f32", "f16", "f16", 248, 16, k64, plain, false, f16_unit},
    {"f32", "f16", "f16", 256, 16, k32, mn128, false, f16_unit},
    {"f16", "f16", "f16", 8, 16, k32, plain, false, f16_in_f16},
    {"f16", "f16", "f16", 136, 16, k128, k32, false, f16_in_f16, 4},
    {"f32", "bf16", "bf16", 104, 16, k64, k64, false, f16_unit},
    {"f32", "tf32", "tf32", 8, 8, plain, k32, false, tf32_unit},
    {"f32", "tf32", "tf32", 72, 8, k128, k128, false, tf32_unit, 4},
    {"f32", "tf32", "tf32", 256, 8, k32, k64, false, tf32_unit},
    {"f32", "e4m3", "e4m3", 16, 32, plain, plain, false, f8_unit},
    {"f32", "e5m2", "e4m3", 88, 32, k64, k64, false, f8_unit},
    {"f32", "e4m3", "e5m2", 256, 32, k32, k64, false, f8_unit},
    {"f16", "e5m2", "e5m2", 40, 32, k128, k128, false, f8_in_f16, 4},
    {"s32", "s8", "s8", 8, 32, plain, k32},
    {"s32", "s8", "u8", 24, 32, k64, k64},
    {"s32", "u8", "s8", 48, 32, k128, k128, false, {}, 4},
    {"s32", "u8", "u8", 256, 32, k32, plain},
    // a in registers.
    {"f32", "f16", "f16", 64, 16, plain, k128, true, f16_unit, 4},
    {"f32", "bf16", "bf16", 32, 16, plain, mn64, true, f16_unit},
    {"f16", "f16", "f16", 32, 16, plain, k64, true, f16_in_f16},
    {"f32", "tf32", "tf32", 48, 8, plain, k64, true, tf32_unit},
    {"f32", "e4m3", "e5m2", 24, 32, plain, k32, true, f8_unit},
    {"s32", "s8", "u8", 16, 32, plain, k64, true},
    // scale-d, imm-scale-a, imm-scale-b.
    {"f32", "f16", "f16", 16, 16, k32, k32, false, f16_unit, 2, false},
    {"f32", "f16", "f16", 16, 16, k32, k32, false, f16_unit, 2, true, true},
    {"f16", "f16", "f16", 16, 16, plain, k32, true, f16_in_f16, 2, true, false, true},
    {"f32", "e4m3", "e4m3", 16, 32, k32, k32, false, f8_unit, 2, true, true, true},
    {"s32", "u8", "s8", 16, 32, k32, k32, false, {}, 2, false},
};

Values random_values(int rows, int columns, const std::string& type, Random& random) {
  Values matrix{rows, columns};
  for (double& value : matrix.values) {
    value = static_cast<double>(random() % 256);
    if (type == "u8") continue;
    value -= 128;
    if (type == "s8" || type == "s32") continue;
    value = std::ldexp(value, -8 + static_cast<int>(random() % 5));
    value = matrix_value(type, matrix_bits(type, value));
  }
  return matrix;
}

class Wgmma : public testing::TestWithParam<WgmmaCase> {};

TEST_P(Wgmma, HasTheBitsOfTheUnit) {
  const WgmmaCase& c = GetParam();
  Random random(4);
  const int depth = c.k * c.steps;
  Values a = random_values(64, depth, c.a, random), b = random_values(depth, c.n, c.b, random),
         sum = random_values(64, c.n, c.d, random);
  const auto d = run_wgmma(c, a, b, sum);
  int wrong = 0;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < c.n; ++j) {
      double expected = c.adds ? sum.at(i, j) : 0;
      std::vector<double> x, y;
      for (int l = 0; l < depth; ++l) {
        x.push_back(c.negates_a ? -a.at(i, l) : a.at(i, l));
        y.push_back(c.negates_b ? -b.at(l, j) : b.at(l, j));
        if (c.model.terms == 0) expected += x.back() * y.back();
      }
      if (c.model.terms != 0)
        expected = unit_sum(c.model, x, c.a, y, c.b, expected, std::string(c.d) == "f16");
      const bool is_right = d[static_cast<std::size_t>(i * c.n + j)] == matrix_bits(c.d, expected);
      wrong += is_right ? 0 : 1;
    }
  EXPECT_EQ(wrong, 0) << "of " << 64 * c.n;
}

INSTANTIATE_TEST_SUITE_P(Cases, Wgmma, testing::ValuesIn(cases));

TEST(WgmmaSum, StopsAtTheEndsOfTheTypeIfAsked) {
  WgmmaCase c{"s32", "s8", "s8", 8, 32, k32, k32, false, {}, 1};
  Values a{64, 32}, b{32, 8}, sum{64, 8};
  a.at(40, 3) = 127, b.at(3, 5) = 127, b.at(3, 6) = -128;
  sum.at(40, 5) = 0x7fffffff - 10, sum.at(40, 6) = -0x7fffffff;
  const auto wrapped = run_wgmma(c, a, b, sum);
  EXPECT_EQ(wrapped[40 * 8 + 5], 0x7fffffffU - 10 + 127 * 127);
  EXPECT_EQ(wrapped[40 * 8 + 6], 0x80000001U - 127 * 128);
  c.more = ".satfinite";
  const auto stopped = run_wgmma(c, a, b, sum);
  EXPECT_EQ(stopped[40 * 8 + 5], 0x7fffffffU);
  EXPECT_EQ(stopped[40 * 8 + 6], 0x80000000U);
}

TEST(WgmmaSum, IsTheSameForEachSeed) {
  const WgmmaCase c{"f32", "f16", "f16", 32, 16, k64, k64, false, f16_unit, 4};
  Random random(5);
  const Values a = random_values(64, 64, "f16", random), b = random_values(64, 32, "f16", random),
               sum = random_values(64, 32, "f32", random);
  const auto first = run_wgmma(c, a, b, sum, 1);
  for (std::uint64_t seed = 2; seed < 10; ++seed)
    EXPECT_EQ(run_wgmma(c, a, b, sum, seed), first) << seed;
}

TEST(WgmmaSum, NamesTheGpuThatNoModelDescribes) {
  WgmmaCase c{"f32", "f16", "f16", 8, 16, k32, k32, false, f16_unit};
  c.gpu = "gtx1080";
  const Caught caught = caught_from([&] { run_wgmma(c, {64, 32}, {32, 8}, {64, 8}); });
  EXPECT_EQ(caught.kind, FaultKind::illegal_instruction);
  EXPECT_NE(caught.text.find("how a gtx1080 adds products of .f16 in .f32"), std::string::npos)
      << caught.text;
}

}  // namespace
}  // namespace emulator::test
