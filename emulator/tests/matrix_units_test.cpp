#include "emulator/numbers/matrix_units.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/numbers/number.h"
#include "emulator/numbers/warp_product.h"
#include "emulator/tests/libraries_support.h"

namespace emulator {
namespace {

using Values = std::vector<double>;

/// c + the sum of a[l] b[l], of one output.
float summed(const MatrixUnit& unit, const Values& a, const Values& b, float c) {
  std::vector<float> tile(a.size() * tile_rows, 0.0F);
  std::vector<std::int32_t> tile_exponents(tile.size(), factor_exponent(0, unit));
  std::vector<std::int32_t> b_exponents;
  for (std::size_t l = 0; l < a.size(); ++l) {
    tile[l * tile_rows + 5] = static_cast<float>(a[l]);
    tile_exponents[l * tile_rows + 5] = factor_exponent(a[l], unit);
    b_exponents.push_back(factor_exponent(b[l], unit));
  }
  const std::vector<float> b_values(b.begin(), b.end());
  float accumulators[tile_rows] = {};
  accumulators[5] = c;
  accumulate(unit, static_cast<std::int64_t>(a.size()), {tile.data(), tile_exponents.data()},
             {b_values.data(), b_exponents.data()}, accumulators);
  return accumulators[5];
}
/// Sums `a` and c: a product with b = 1.
float summed(const MatrixUnit& unit, const Values& a, float c) {
  return summed(unit, a, Values(a.size(), 1.0), c);
}

struct Fact {
  const char* gpu;
  UnitInput input;
  int terms, fraction_bits, result_fraction_bits;
};
void PrintTo(const Fact& fact, std::ostream* out) {
  *out << fact.gpu << ", input " << static_cast<int>(fact.input);
}
/// Khattak and Mikaitis 2025, and Xie et al. 2025.
constexpr Fact facts[] = {
    {"v100", UnitInput::f16, 4, 23, 23},   {"a100", UnitInput::f16, 8, 24, 23},
    {"a100", UnitInput::bf16, 8, 24, 23},  {"a100", UnitInput::tf32, 4, 24, 23},
    {"l40s", UnitInput::f16, 8, 24, 23},   {"l40s", UnitInput::bf16, 8, 24, 23},
    {"l40s", UnitInput::tf32, 4, 24, 23},  {"l40s", UnitInput::e4m3, 16, 13, 13},
    {"l40s", UnitInput::e5m2, 16, 13, 13}, {"h100", UnitInput::f16, 16, 25, 23},
    {"h100", UnitInput::bf16, 16, 25, 23}, {"h100", UnitInput::tf32, 8, 25, 23},
    {"h100", UnitInput::e4m3, 32, 13, 13}, {"h100", UnitInput::e5m2, 32, 13, 13},
    {"h200", UnitInput::f16, 16, 25, 23},  {"h200", UnitInput::e4m3, 32, 13, 13},
    {"b200", UnitInput::f16, 16, 25, 23},  {"b200", UnitInput::bf16, 16, 25, 23},
    {"b200", UnitInput::tf32, 8, 25, 23},  {"b200", UnitInput::e4m3, 32, 25, 23},
    {"b200", UnitInput::e5m2, 32, 25, 23},
};

/// Probes find each fact from outside, as the papers do.
class MatrixUnits : public testing::TestWithParam<Fact> {
 protected:
  MatrixUnit unit() const { return matrix_unit(GetParam().gpu, GetParam().input).value(); }
  /// The unit of the last place that one step keeps.
  double kept() const { return std::ldexp(1.0, -GetParam().fraction_bits); }
  /// Unit in the last place of the result.
  double result_ulp() const { return std::ldexp(1.0, -GetParam().result_fraction_bits); }
  /// Terms of `kept` that add up to one ulp of a result in [1, 2).
  int to_one_ulp() const { return static_cast<int>(result_ulp() / kept()); }
};

TEST_P(MatrixUnits, AddSoManyProductsAtOnce) {
  // 2^-18 vanishes beside 2^16 within one step, and stays once 2^16 and -2^16 have cancelled.
  int terms = 0;
  for (int at = 2; at <= 33 && terms == 0; ++at) {
    Values a(static_cast<std::size_t>(at + 1), 0.0);
    Values b(a.size(), 256.0);
    a[0] = 256;
    a[static_cast<std::size_t>(at - 1)] = -256;
    a[static_cast<std::size_t>(at)] = b[static_cast<std::size_t>(at)] = 0x1p-9;
    if (summed(unit(), a, b, 0) != 0) terms = at;
  }
  EXPECT_EQ(terms, GetParam().terms);
}

TEST_P(MatrixUnits, KeepBitsBelowTheResultUntilTheStepEnds) {
  const Values enough(static_cast<std::size_t>(to_one_ulp()), kept());
  EXPECT_EQ(summed(unit(), enough, 1), 1 + result_ulp());
  const Values below(static_cast<std::size_t>(GetParam().terms), kept() / 2);
  EXPECT_EQ(summed(unit(), below, 1), 1) << "each is cut off alone";
}

TEST_P(MatrixUnits, CutOffTowardZero) {
  EXPECT_EQ(summed(unit(), {0.75 * result_ulp()}, 1), 1);
  EXPECT_EQ(summed(unit(), {-0.75 * result_ulp()}, -1), -1);
  // A difference has room for one more bit, if the step keeps it.
  const double lower = to_one_ulp() > 1 ? 1 - result_ulp() / 2 : 1;
  EXPECT_EQ(summed(unit(), {-0.5 * result_ulp()}, 1), lower);
}

TEST_P(MatrixUnits, DoNotNormaliseProducts) {
  // 1.5 * 1.5 = 2.25 keeps the exponent 0: otherwise `kept` would be cut off.
  const int count = 2 * to_one_ulp();  // the result's ulp is twice as large
  if (count + 1 > GetParam().terms) GTEST_SKIP() << "one step has too few products";
  Values a(static_cast<std::size_t>(count + 1), kept());
  Values b(a.size(), 1.0);
  a[0] = b[0] = 1.5;
  EXPECT_EQ(summed(unit(), a, b, 0), 2.25 + 2 * result_ulp());
}

TEST_P(MatrixUnits, TakeSubnormalFactorsAndKeepSubnormalResults) {
  const double smallest = std::ldexp(1.0, unit().min_factor_exponent - 2);
  if (GetParam().input == UnitInput::f16) {
    EXPECT_EQ(factor_exponent(smallest, unit()), -14);
  }
  EXPECT_EQ(summed(unit(), {smallest}, 0), static_cast<float>(smallest));
  EXPECT_EQ(summed(unit(), {1}, 0x1p-149F), 1);
  EXPECT_EQ(summed(unit(), {0}, 0x1p-130F), 0x1p-130F);
}

TEST_P(MatrixUnits, PropagateNanAndInfinity) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(summed(unit(), {std::nan("")}, 1)));
  EXPECT_TRUE(std::isnan(summed(unit(), {infinity, -infinity}, 0)));
  EXPECT_EQ(summed(unit(), {infinity, 1}, 2), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(summed(unit(), {infinity}, {0}, 0)));
}

TEST_P(MatrixUnits, StayWithinTheBoundOfTheirSteps) {
  Numbers numbers(11);
  constexpr std::size_t k = 1024;
  for (int sample = 0; sample < 50; ++sample) {
    Values a;
    Values b;
    double exact = 0;
    double magnitude = 0;
    for (std::size_t l = 0; l < k; ++l) {
      a.push_back(std::nearbyint(numbers.real() * 8) / 8);
      b.push_back(std::nearbyint(numbers.real() * 8) / 8);
      exact += a[l] * b[l];
      magnitude += std::fabs(a[l] * b[l]);
    }
    // Each step cuts off each of its terms, and its result.
    const double steps = double(k) / GetParam().terms;
    const double bound = (double(k) + steps) * kept() + steps * result_ulp();
    EXPECT_LE(std::fabs(summed(unit(), a, b, 0) - exact), bound * magnitude);
  }
}

INSTANTIATE_TEST_SUITE_P(Published, MatrixUnits, testing::ValuesIn(facts));

// Fasi et al. 2021, section 4: sums in FP16 are rounded to nearest, once for each step.
TEST(MatrixUnit, RoundsToTheNearestFp16) {
  for (const char* gpu : {"v100", "t4", "a100", "rtx3090", "l40s", "h100", "h200", "b200"}) {
    SCOPED_TRACE(gpu);
    const MatrixUnit unit = matrix_unit(gpu, UnitInput::f16, UnitResult::f16).value();
    EXPECT_EQ(summed(unit, {0x1p-11}, 1), 1) << "to even";
    EXPECT_EQ(summed(unit, {0x1p-11, 0x1p-20}, 1), 1 + 0x1p-10);
    EXPECT_EQ(summed(unit, {0x1p-11, 0x1p-10}, 1), 1 + 0x1p-9) << "to even";
    EXPECT_EQ(summed(unit, {0x1p-24}, {0.75}, 0), 0x1p-24);
    EXPECT_EQ(summed(unit, {65504, 65504}, 0), std::numeric_limits<float>::infinity());
    // The second step begins with a rounded sum.
    Values a(static_cast<std::size_t>(unit.terms + 1), 0.0);
    a[0] = a.back() = 0x1p-11;
    EXPECT_EQ(summed(unit, a, 1), 1);
  }
}

TEST(MatrixUnit, HasNoNegativeZero) {
  const MatrixUnit unit = matrix_unit("a100", UnitInput::f16).value();
  EXPECT_FALSE(std::signbit(summed(unit, {-0.0}, -0.0F)));
}

TEST(MatrixUnit, ExistsOnlyWhereAGpuHasOne) {
  EXPECT_FALSE(matrix_unit("v100", UnitInput::bf16).has_value());
  EXPECT_FALSE(matrix_unit("v100", UnitInput::tf32).has_value());
  EXPECT_FALSE(matrix_unit("a100", UnitInput::e4m3).has_value());
  EXPECT_FALSE(matrix_unit("t4", UnitInput::bf16).has_value());
  EXPECT_FALSE(matrix_unit("test", UnitInput::f16).has_value()) << "no model describes it";
  EXPECT_FALSE(matrix_unit("a100", UnitInput::tf32, UnitResult::f16).has_value());
  EXPECT_TRUE(matrix_unit("NVIDIA H100 PCIe", UnitInput::e5m2).has_value());
  EXPECT_TRUE(is_promoted(matrix_unit("h100sxm", UnitInput::e4m3).value()));
  EXPECT_FALSE(is_promoted(matrix_unit("b200", UnitInput::e4m3).value()));
}

/// Results of real GPUs: the folder model_validation of
/// https://github.com/north-numerical-computing/MATLAB-tensor-core (BSD 2-Clause, (c) 2025 Khattak
/// and Mikaitis), 5000 results for each GPU and type. Not part of this repository: the variable
/// names a copy. (Those of H100 and H200 for tf32 have 4 terms, half a step.) All 210,000 of commit
/// b12b5a7 agree.
constexpr const char* words_variable = "ASSAY_TENSOR_CORE_WORDS";

struct Words {
  const char* gpu;  // a folder
  const char* type;
  UnitInput input;
  UnitResult result = UnitResult::f32;
  const char* like = nullptr;  // the GPU whose model counts, where it is another
};

/// Factors are the hexadecimal words of equal floats.
Values factors(const std::string& line) {
  Values values;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    values.push_back(
        std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16))));
  }
  return values;
}

/// c and d are binary digits.
float number(const std::string& line) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(line, nullptr, 2)));
}

/// Compares `compute(a, b, c)` with d of each line of the files of `words`.
template <class Compute>
void compare(const Words& w, Compute compute) {
  const bool is_half = w.result == UnitResult::f16;
  SCOPED_TRACE(std::string(w.gpu) + " " + w.type + (is_half ? " to fp16" : ""));
  const auto file = [&](const char* operand, const char* type) {
    const std::string name = std::string(operand) + "_" + w.gpu + "_" + type + ".txt";
    return std::ifstream(std::filesystem::path(std::getenv(words_variable)) / w.gpu / w.type /
                         name);
  };
  auto a_file = file("a", w.type);
  auto b_file = file("b", w.type);
  auto c_file = file("c", "fp32");
  auto d_file = file("d", is_half ? "fp16" : "fp32");
  int lines = 0;
  std::string a;
  std::string b;
  std::string c;
  std::string d;
  while (std::getline(a_file, a) && std::getline(b_file, b) && std::getline(c_file, c) &&
         std::getline(d_file, d)) {
    EXPECT_EQ(compute(factors(a), factors(b), number(c)), number(d)) << "line " << lines + 1;
    ++lines;
  }
  EXPECT_EQ(lines, 5000);
}

constexpr Words words[] = {
    {"V100", "fp16", UnitInput::f16},  {"A100", "fp16", UnitInput::f16},
    {"A100", "bf16", UnitInput::bf16}, {"A100", "tf32", UnitInput::tf32},
    {"L40S", "fp16", UnitInput::f16},  {"L40S", "bf16", UnitInput::bf16},
    {"L40S", "tf32", UnitInput::tf32}, {"L40S", "E4M3", UnitInput::e4m3},
    {"L40S", "E5M2", UnitInput::e5m2}, {"H100", "fp16", UnitInput::f16},
    {"H100", "bf16", UnitInput::bf16}, {"H100", "tf32", UnitInput::tf32},
    {"H100", "E4M3", UnitInput::e4m3}, {"H100", "E5M2", UnitInput::e5m2},
    {"H200", "fp16", UnitInput::f16},  {"H200", "bf16", UnitInput::bf16},
    {"H200", "tf32", UnitInput::tf32}, {"H200", "E4M3", UnitInput::e4m3},
    {"H200", "E5M2", UnitInput::e5m2}, {"B200", "fp16", UnitInput::f16},
    {"B200", "bf16", UnitInput::bf16}, {"B200", "tf32", UnitInput::tf32},
};

TEST(PublishedWords, AreThoseOfMatrixUnits) {
  if (std::getenv(words_variable) == nullptr) GTEST_SKIP() << words_variable << " is not set";
  for (const Words& w : words) {
    const MatrixUnit unit = matrix_unit(w.gpu, w.input).value();
    // Hopper's FP8 words come from wgmma without an accumulator.
    const bool has_c = w.type[0] != 'E' || w.gpu == std::string("L40S");
    compare(w, [&](const Values& a, const Values& b, float c) {
      return summed(unit, a, b, has_c ? c : 0);
    });
  }
}

/// Words of mma.sync and wmma, where these differ or have not been looked at. H100's and H200's of
/// FP8 in FP32 are in the older commit 109e412 of that repository, and agree too.
constexpr Words warp_words[] = {
    {"V100", "fp16", UnitInput::f16, UnitResult::f16},
    {"A100", "fp16", UnitInput::f16, UnitResult::f16},
    {"A2", "fp16", UnitInput::f16, UnitResult::f16, "rtx3090"},
    {"A2", "fp16", UnitInput::f16, UnitResult::f32, "rtx3090"},
    {"A2", "bf16", UnitInput::bf16, UnitResult::f32, "rtx3090"},
    {"A2", "tf32", UnitInput::tf32, UnitResult::f32, "rtx3090"},
    {"L40S", "fp16", UnitInput::f16, UnitResult::f16},
    {"H100", "fp16", UnitInput::f16, UnitResult::f16},
    {"H200", "fp16", UnitInput::f16, UnitResult::f16},
    {"B200", "fp16", UnitInput::f16, UnitResult::f16},
    {"Ada", "E4M3", UnitInput::e4m3, UnitResult::f16, "l40s"},
    {"Ada", "E5M2", UnitInput::e5m2, UnitResult::f16, "l40s"},
    {"H100", "E4M3", UnitInput::e4m3, UnitResult::f16},
    {"H100", "E5M2", UnitInput::e5m2, UnitResult::f16},
    {"H200", "E4M3", UnitInput::e4m3, UnitResult::f16},
    {"H200", "E5M2", UnitInput::e5m2, UnitResult::f16},
    {"B200", "E4M3", UnitInput::e4m3, UnitResult::f16},
    {"B200", "E5M2", UnitInput::e5m2, UnitResult::f16},
    {"B200", "E4M3", UnitInput::e4m3, UnitResult::f32},
    {"B200", "E5M2", UnitInput::e5m2, UnitResult::f32},
};

TEST(PublishedWords, AreThoseOfInstructionsOfWarps) {
  if (std::getenv(words_variable) == nullptr) GTEST_SKIP() << words_variable << " is not set";
  for (const Words& w : warp_words) {
    const WarpUnit unit = warp_unit(w.like != nullptr ? w.like : w.gpu, w.input, w.result).value();
    compare(w, [&](const Values& a, const Values& b, float c) {
      const int k = static_cast<int>(a.size());
      WarpProduct product(unit, unit, 1, 1, k);
      for (int l = 0; l < k; ++l) {
        product.set_a(0, l, static_cast<float>(a[static_cast<std::size_t>(l)]));
        product.set_b(l, 0, static_cast<float>(b[static_cast<std::size_t>(l)]));
      }
      // The published program rounds c to the type of the result.
      product.accumulator(0, 0) =
          w.result == UnitResult::f16 ? decode(encode(c, binary16), binary16) : c;
      product.multiply();
      return product.accumulator(0, 0);
    });
  }
}

}  // namespace
}  // namespace emulator
