#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "emulator/numbers/number.h"
#include "emulator/tests/module.h"
#include "emulator/tests/opcodes/matrix_model.h"
#include "emulator/tests/opcodes/operand.h"

// PTX ISA: mma.sync.
namespace emulator::test {
namespace {

/// The element of a matrix that the ISA calls a_i, b_i or c_i of a lane.
struct Place {
  int row, column;
};
using PlaceOf = Place (*)(int group, int in_group, int i);

// "Matrix fragments for mma.m16n8k16" and so on, as they are written there.
Place a_8x4(int g, int t, int) { return {g, t}; }
Place b_4x8(int g, int t, int) { return {t, g}; }
Place a_8x16(int g, int t, int i) { return {g, t * 4 + i}; }
Place b_16x8_bytes(int g, int t, int i) { return {t * 4 + i, g}; }
Place a_16x4(int g, int t, int i) { return {i == 0 ? g : g + 8, t}; }
Place a_16x8_words(int g, int t, int i) {
  return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
}
Place b_8x8_words(int g, int t, int i) { return {i == 0 ? t : t + 4, g}; }
Place a_16x8(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }
Place b_8x8(int g, int t, int i) { return {t * 2 + i, g}; }
Place a_16x16(int g, int t, int i) {
  const bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
  return {upper ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place b_16x8(int g, int t, int i) { return {t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g}; }
Place a_16x16_bytes(int g, int t, int i) { return {i < 4 ? g : g + 8, t * 4 + (i & 3)}; }
Place a_16x32(int g, int t, int i) {
  const bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
  return {upper ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
Place b_32x8(int g, int t, int i) { return {t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g}; }
Place c_16x8(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }
Place c_8x8(int g, int t, int i) { return {g, t * 2 + i}; }

struct Case {
  const char *shape, *d, *a, *b, *c;
  int m, n, k;
  PlaceOf a_place, b_place, c_place;
  const char* target;
};
constexpr Case cases[] = {
    {"m16n8k8", "f32", "f16", "f16", "f32", 16, 8, 8, a_16x8, b_8x8, c_16x8, "sm_75"},
    {"m16n8k8", "f16", "f16", "f16", "f16", 16, 8, 8, a_16x8, b_8x8, c_16x8, "sm_75"},
    {"m16n8k16", "f32", "f16", "f16", "f32", 16, 8, 16, a_16x16, b_16x8, c_16x8, "sm_80"},
    {"m16n8k16", "f16", "f16", "f16", "f16", 16, 8, 16, a_16x16, b_16x8, c_16x8, "sm_80"},
    {"m16n8k8", "f32", "bf16", "bf16", "f32", 16, 8, 8, a_16x8, b_8x8, c_16x8, "sm_80"},
    {"m16n8k16", "f32", "bf16", "bf16", "f32", 16, 8, 16, a_16x16, b_16x8, c_16x8, "sm_80"},
    {"m16n8k4", "f32", "tf32", "tf32", "f32", 16, 8, 4, a_16x4, b_4x8, c_16x8, "sm_80"},
    {"m16n8k8", "f32", "tf32", "tf32", "f32", 16, 8, 8, a_16x8_words, b_8x8_words, c_16x8, "sm_80"},
    {"m16n8k32", "f32", "e4m3", "e4m3", "f32", 16, 8, 32, a_16x32, b_32x8, c_16x8, "sm_89"},
    {"m16n8k32", "f16", "e5m2", "e4m3", "f16", 16, 8, 32, a_16x32, b_32x8, c_16x8, "sm_89"},
    {"m8n8k16", "s32", "s8", "s8", "s32", 8, 8, 16, a_8x16, b_16x8_bytes, c_8x8, "sm_75"},
    {"m8n8k16", "s32", "u8", "s8", "s32", 8, 8, 16, a_8x16, b_16x8_bytes, c_8x8, "sm_75"},
    {"m16n8k16", "s32", "s8", "u8", "s32", 16, 8, 16, a_16x16_bytes, b_16x8_bytes, c_16x8, "sm_80"},
    {"m16n8k32", "s32", "u8", "u8", "s32", 16, 8, 32, a_16x32, b_32x8, c_16x8, "sm_80"},
    {"m16n8k32", "s32", "s8", "s8", "s32", 16, 8, 32, a_16x32, b_32x8, c_16x8, "sm_80"},
    {"m8n8k4", "f64", "f64", "f64", "f64", 8, 8, 4, a_8x4, b_4x8, c_8x8, "sm_80"},
};

std::string instruction(const Case& c, const std::string& more = "") {
  return std::string("mma.sync.aligned.") + c.shape + ".row.col" + more + "." + c.d + "." + c.a +
         "." + c.b + "." + c.c;
}
void PrintTo(const Case& c, std::ostream* out) { *out << instruction(c); }

/// A matrix as rows of values.
struct Matrix {
  int rows, columns;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(rows * columns));
  double& at(int row, int column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// The fragments of the lanes, one behind the other.
std::vector<std::byte> packed(const std::string& type, Matrix matrix, PlaceOf place) {
  const int count = matrix.rows * matrix.columns / 32;
  const std::size_t bytes = matrix_bytes(type);
  std::vector<std::byte> fragments(static_cast<std::size_t>(count) * 32 * bytes);
  std::byte* to = fragments.data();
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < count; ++i, to += bytes) {
      const Place at = place(lane >> 2, lane % 4, i);
      const std::uint64_t bits = matrix_bits(type, matrix.at(at.row, at.column));
      std::memcpy(to, &bits, bytes);
    }
  return fragments;
}

std::string registers(const std::string& name, std::size_t count) {
  std::string list = "{";
  for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return list + "}";
}

/// Bits of d, as rows.
std::vector<std::uint64_t> run(const Case& c, const std::string& gpu, const Matrix& a,
                               const Matrix& b, const Matrix& sum, const std::string& more = "") {
  const bool wide = std::string(c.d) == "f64";
  const std::size_t register_bytes = wide ? 8 : 4;
  const std::string bits = wide ? ".b64 " : ".b32 ";
  Device device;
  device.set_gpu(gpu);
  std::string body, operands;
  const auto move = [&](const std::string& name, const std::string& base, std::size_t lane_bytes,
                        bool loads) {
    const std::size_t count = lane_bytes / register_bytes;
    if (name != "%md") body += ".reg " + bits + name + "<" + std::to_string(count) + ">;\n";
    std::string text = element(base, static_cast<int>(lane_bytes));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string address = "[%l31+" + std::to_string(i * register_bytes) + "]";
      const std::string each = name + std::to_string(i);
      text += loads ? "ld.global" + bits + each + ", " + address + ";\n"
                    : "st.global" + bits + address + ", " + each + ";\n";
    }
    body += text;
    return registers(name, count);
  };
  const auto a_bytes = packed(c.a, a, c.a_place), b_bytes = packed(c.b, b, c.b_place),
             c_bytes = packed(c.c, sum, c.c_place);
  const std::string a_list = move("%ma", "%a", a_bytes.size() / 32, true),
                    b_list = move("%mb", "%b", b_bytes.size() / 32, true),
                    c_list = move("%mc", "%c", c_bytes.size() / 32, true);
  const std::size_t d_count = c_bytes.size() / 32 / register_bytes;
  body += ".reg " + bits + "%md<" + std::to_string(d_count) + ">;\n" + instruction(c, more) + " " +
          registers("%md", d_count) + ", " + a_list + ", " + b_list + ", " + c_list + ";\n";
  move("%md", "%d", c_bytes.size() / 32, false);
  Kernels kernels(device, module_head(c.target) + kernel({"a", "b", "c", "d"}, body));
  const auto d = device.allocate(c_bytes.size());
  kernels.run("test", {.grid = {1}, .block = {32}}, device.upload(a_bytes), device.upload(b_bytes),
              device.upload(c_bytes), d);
  const auto d_bytes = device.download<std::byte>(d, c_bytes.size());
  std::vector<std::uint64_t> rows(static_cast<std::size_t>(c.m * c.n));
  const std::size_t bytes = matrix_bytes(c.d);
  const int count = c.m * c.n / 32;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < count; ++i) {
      const Place at = c.c_place(lane >> 2, lane % 4, i);
      std::memcpy(&rows[static_cast<std::size_t>(at.row * c.n + at.column)],
                  d_bytes.data() + static_cast<std::size_t>(lane * count + i) * bytes, bytes);
    }
  return rows;
}

Matrix random_matrix(int rows, int columns, const std::string& type, Random& random) {
  Matrix matrix{rows, columns};
  for (double& value : matrix.values)
    value = type == "u8"   ? static_cast<double>(random() % 256)
            : type == "s8" ? static_cast<double>(random() % 256) - 128
                           : static_cast<double>(random() % 7) - 3;
  return matrix;
}

class Mma : public testing::TestWithParam<Case> {};

TEST_P(Mma, MultipliesWholeNumbersExactly) {
  const Case& c = GetParam();
  Random random(1);
  Matrix a = random_matrix(c.m, c.k, c.a, random), b = random_matrix(c.k, c.n, c.b, random),
         sum = random_matrix(c.m, c.n, c.c, random);
  const auto d = run(c, "l40s", a, b, sum);
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double expected = sum.at(i, j);
      for (int l = 0; l < c.k; ++l) expected += a.at(i, l) * b.at(l, j);
      EXPECT_EQ(d[static_cast<std::size_t>(i * c.n + j)], matrix_bits(c.d, expected))
          << "row " << i << ", column " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Mma, testing::ValuesIn(cases));

/// A GPU's sums, as Khattak and Mikaitis 2025 and Xie et al. 2025 give them.
struct Published {
  const char* gpu;
  int which;  // of `cases`
  UnitModel model;
};
void PrintTo(const Published& p, std::ostream* out) { *out << p.gpu << ' ' << p.which; }
constexpr Published published[] = {
    {"t4", 0, {8, 24, -126}},    {"t4", 1, {8, 24, -126}},    {"rtx3090", 2, {8, 24, -132}},
    {"a100", 2, {8, 24, -132}},  {"a100", 3, {8, 24, -20}},   {"a100", 5, {8, 24, -132}},
    {"a100", 7, {4, 24, -132}},  {"l40s", 2, {8, 24, -132}},  {"l40s", 8, {16, 13, -132, 13}},
    {"l40s", 9, {16, 13, -132}}, {"h100", 0, {8, 25, -133}},  {"h100", 2, {16, 25, -133}},
    {"h100", 3, {16, 25, -21}},  {"h100", 5, {16, 25, -133}}, {"h100", 7, {8, 25, -133}},
    {"h200", 6, {4, 25, -133}},  {"b200", 2, {16, 25, -133}}, {"b200", 3, {16, 25, -21}},
};

class MmaOfGpu : public testing::TestWithParam<Published> {};

TEST_P(MmaOfGpu, HasItsBits) {
  const Published& p = GetParam();
  const Case& c = cases[p.which];
  Random random(2);
  Matrix a{c.m, c.k}, b{c.k, c.n}, sum{c.m, c.n};
  for (Matrix* matrix : {&a, &b, &sum})
    for (double& value : matrix->values) {
      value = std::ldexp(static_cast<double>(random() % 4096) - 2048, -12 + int(random() % 4));
    }
  const auto round = [](Matrix& matrix, const std::string& type) {
    for (double& value : matrix.values) value = matrix_value(type, matrix_bits(type, value));
  };
  round(a, c.a), round(b, c.b), round(sum, c.c);
  const auto d = run(c, p.gpu, a, b, sum);
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      std::vector<double> x, y;
      for (int l = 0; l < c.k; ++l) x.push_back(a.at(i, l)), y.push_back(b.at(l, j));
      const double expected =
          unit_sum(p.model, x, c.a, y, c.b, sum.at(i, j), std::string(c.d) == "f16");
      EXPECT_EQ(d[static_cast<std::size_t>(i * c.n + j)], matrix_bits(c.d, expected))
          << "row " << i << ", column " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Published, MmaOfGpu, testing::ValuesIn(published));

// From Hopper on, FP8 takes two steps of FP16 that begin with 0; then c is added to nearest.
TEST(Mma, AddsTheAccumulatorOfFp8LastOnHopper) {
  const Case& c = cases[8];
  Matrix a{16, 32}, b{32, 8}, sum{16, 8};
  a.at(0, 0) = b.at(0, 0) = 1;
  sum.at(0, 0) = 0x1p-24 + 0x1p-40;  // more than half an ulp of 1
  EXPECT_EQ(run(c, "h100", a, b, sum)[0], std::bit_cast<std::uint32_t>(1 + 0x1p-23F));
  EXPECT_EQ(run(c, "b200", a, b, sum)[0], std::bit_cast<std::uint32_t>(1 + 0x1p-23F));
  EXPECT_EQ(run(c, "l40s", a, b, sum)[0], std::bit_cast<std::uint32_t>(1.0F));
  // Products 0 and 4 meet 2^16 in the first step, and 2 comes in the second one, when that has
  // gone.
  Matrix e{16, 32}, f{32, 8}, none{16, 8};
  e.at(0, 0) = 256, f.at(0, 0) = 256;
  e.at(0, 4) = 256, f.at(4, 0) = -256;
  e.at(0, 5) = 0x1p-6, f.at(5, 0) = 0x1p-6;  // below 2^(16 - 25)
  EXPECT_EQ(run(c, "h100", e, f, none)[0], 0U);
  e.at(0, 5) = 0, e.at(0, 6) = 0x1p-6, f.at(6, 0) = 0x1p-6;
  EXPECT_EQ(run(c, "h100", e, f, none)[0], std::bit_cast<std::uint32_t>(0x1p-12F));
}

// Khattak and Mikaitis 2025: a subnormal factor has the smallest exponent of its own type.
TEST(Mma, TakesSubnormalFactorsOfEitherType) {
  const Case& c = cases[9];  // e5m2 times e4m3
  Matrix a{16, 32}, b{32, 8}, sum{16, 8};
  a.at(0, 0) = 1, b.at(0, 0) = 0x1p-9;  // exponents 0 and -6: 13 bits end at 2^-19
  a.at(0, 1) = 1.5 * 0x1p-14, b.at(1, 0) = 0x1p-6;
  EXPECT_EQ(run(c, "l40s", a, b, sum)[0], encode(0x1p-9, binary16));
}

TEST(Mma, DropsTheLastBitsOfTf32) {
  const Case& c = cases[6];
  Matrix a{16, 4}, b{4, 8}, sum{16, 8};
  a.at(0, 0) = 1 + 0x1p-10 + 0x1p-11 + 0x1p-23, b.at(0, 0) = 1;
  EXPECT_EQ(run(c, "a100", a, b, sum)[0], std::bit_cast<std::uint32_t>(1 + 0x1p-10F));
}

TEST(Mma, HasOneNan) {
  Matrix a{16, 8}, b{8, 8}, sum{16, 8};
  a.at(0, 0) = -std::numeric_limits<double>::quiet_NaN();
  a.at(1, 0) = std::numeric_limits<double>::infinity(), b.at(0, 0) = 1;
  const auto wide = run(cases[0], "t4", a, b, sum), narrow = run(cases[1], "t4", a, b, sum);
  EXPECT_EQ(wide[0], 0x7fffffffU);
  EXPECT_EQ(narrow[0], 0x7fffU);
  EXPECT_EQ(wide[8], 0x7f800000U);
  EXPECT_EQ(narrow[8], 0x7c00U);
  EXPECT_EQ(wide[9], 0x7fffffffU) << "infinity times 0";
}

TEST(Mma, WrapsSumsOfIntegersUnlessToldOtherwise) {
  const Case& c = cases[10];
  Matrix a{8, 16}, b{16, 8}, sum{8, 8};
  a.at(0, 0) = a.at(1, 0) = 127, b.at(0, 0) = 127, b.at(0, 1) = -128;
  sum.at(0, 0) = 0x7fffffff - 10, sum.at(1, 1) = -0x7fffffff, sum.at(0, 2) = 7;
  const auto wrapped = run(c, "t4", a, b, sum), stopped = run(c, "t4", a, b, sum, ".satfinite");
  EXPECT_EQ(wrapped[0], 0x7fffffffU - 10 + 127 * 127);
  EXPECT_EQ(wrapped[9], 0x80000001U - 127 * 128);
  EXPECT_EQ(stopped[0], 0x7fffffffU);
  EXPECT_EQ(stopped[9], 0x80000000U);
  EXPECT_EQ(stopped[2], 7U);
}

TEST(Mma, ChainsFusedOperationsOnDoubles) {
  const Case& c = cases[15];
  Random random(3);
  Matrix a{8, 4}, b{4, 8}, sum{8, 8};
  for (Matrix* matrix : {&a, &b, &sum})
    for (double& value : matrix->values)
      value = std::ldexp(double(random()), -60 + int(random() % 3));
  const auto d = run(c, "a100", a, b, sum);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      double expected = sum.at(i, j);
      for (int l = 0; l < 4; ++l) expected = std::fma(a.at(i, l), b.at(l, j), expected);
      EXPECT_EQ(d[static_cast<std::size_t>(i * 8 + j)], std::bit_cast<std::uint64_t>(expected));
    }
}

TEST(Mma, NamesTheGpuThatNoModelDescribes) {
  const Case& c = cases[0];
  const Caught caught = caught_from([&] { run(c, "gtx1080", {16, 8}, {8, 8}, {16, 8}); });
  EXPECT_EQ(caught.kind, FaultKind::illegal_instruction);
  EXPECT_NE(caught.text.find("how a gtx1080 adds products of .f16 in .f32"), std::string::npos)
      << caught.text;
}

}  // namespace
}  // namespace emulator::test
