// Sums of nine products of bf16 parts: what the oracle grants them, and what it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "harness/execute/verify_launch.h"
#include "harness/input/distributions.h"
#include "harness/input/exact_data.h"
#include "harness/oracle/precision.h"
#include "harness/oracle/tolerance.h"
#include "harness/plan/case.h"
#include "tests/unit/example.h"

namespace assay::oracle {
namespace {

constexpr MathMode truncating{.rounding = MathMode::Rounding::truncation, .step = 8};

using Rounding = std::function<double(double)>;

Rounding to_bits(int bits, bool cuts) {
  return [bits, cuts](double x) {
    if (x == 0) return x;
    const double unit = std::ldexp(1.0, std::ilogb(x) - bits + 1);
    return (cuts ? std::trunc(x / unit) : std::nearbyint(x / unit)) * unit;
  };
}

/// The nine products of parts that `first` and `second` split off, x1 w1 first.
std::vector<double> products(double x, double w, const Rounding& first, const Rounding& second) {
  const auto parts = [&](double factor) {
    const double high = first(factor);
    const double middle = second(factor - high);
    return std::array{high, middle, factor - high - middle};
  };
  std::vector<double> all;
  for (const double of_x : parts(x)) {
    for (const double of_w : parts(w)) all.push_back(of_x * of_w);
  }
  return all;
}

double sum_of(const std::vector<double>& terms, const Rounding& rounding) {
  return std::accumulate(terms.begin(), terms.end(), 0.0,
                         [&](double sum, double term) { return rounding(sum + term); });
}

OpInstance layer() { return parse_case_id("linear/bf16x9/batch=2,in=64,out=2,bias=0,act=none").op; }

double allowed(const MathMode& mode, double y) {
  EXPECT_EQ(passes(layer()).at(1).name, "bf16_parts");
  const Tolerance t = tolerance(passes(layer()).at(1).rule, layer(), mode);
  return t.scale * std::abs(y) + t.relative * std::abs(y) + t.absolute;
}

TEST(Bf16Parts, AnyOrderOfNineProductsOfAnySplitIsRight) {
  const double x = input::Bf16Parts<float>{}(0);
  std::mt19937 random(1);
  for (const bool first_cuts : {false, true}) {
    for (const bool second_cuts : {false, true}) {
      std::vector<double> nine = products(x, x, to_bits(8, first_cuts), to_bits(8, second_cuts));
      EXPECT_EQ(std::accumulate(nine.begin(), nine.end(), 0.0), x * x);
      for (int order = 0; order < 5000; ++order) {
        std::ranges::shuffle(nine, random);
        EXPECT_LE(std::abs(sum_of(nine, to_bits(24, false)) - x * x), allowed({}, x * x));
        EXPECT_LE(std::abs(sum_of(nine, to_bits(24, true)) - x * x), allowed(truncating, x * x));
      }
    }
  }
}

TEST(Bf16Parts, NoOrderOfSixProductsIsRight) {
  const double x = input::Bf16Parts<float>{}(0);
  const std::vector<double> nine = products(x, x, to_bits(8, true), to_bits(8, true));
  std::vector<double> six{nine[0], nine[1], nine[2], nine[3], nine[4], nine[6]};
  std::mt19937 random(1);
  for (int order = 0; order < 1000; ++order) {
    std::ranges::shuffle(six, random);
    EXPECT_GT(std::abs(sum_of(six, to_bits(24, false)) - x * x), allowed(truncating, x * x));
  }
}

/// Sums of all products of one order of parts after those of another, the worst for a chain.
TEST(EffectiveBits, OfNineSumsInARowAreInTheBand) {
  for (const int in : {16, 512, 4096}) {
    const OpInstance op =
        parse_case_id("linear/bf16x9/batch=16,in=" + std::to_string(in) + ",out=17,bias=0,act=none")
            .op;
    const int last = static_cast<int>(passes(op).size()) - 1;
    const Rule rule = passes(op).back().rule;
    const RankInputs inputs = generate_inputs(op, last, 1, 1);
    const auto x = inputs[0][0].as<float>();
    const auto w = inputs[0][1].as<float>();
    for (const bool cuts : {false, true}) {
      const MathMode mode = cuts ? truncating : MathMode{};
      const std::size_t step = cuts ? 8 : 1;
      const auto n = static_cast<std::size_t>(in);
      std::vector<float> y;
      for (std::size_t row = 0; row < 16; ++row) {
        for (std::size_t col = 0; col < 17; ++col) {
          std::vector<std::vector<double>> of_parts(9);
          for (std::size_t i = 0; i < n; ++i) {
            const auto nine =
                products(x[row * n + i], w[col * n + i], to_bits(8, true), to_bits(8, true));
            for (std::size_t p = 0; p < 9; ++p) of_parts[p].push_back(nine[p]);
          }
          double sum = 0;
          for (const std::vector<double>& terms : of_parts) {
            for (std::size_t i = 0; i < n; ++i) {
              sum += terms[i];
              if ((i + 1) % step == 0) sum = to_bits(24, cuts)(sum);
            }
          }
          y.push_back(static_cast<float>(to_bits(24, cuts)(sum)));
        }
      }
      const reference::Reference reference = reference::find(op);
      const reference::Problem problem{op, inputs, {}};
      const Verdict verdict = compare(reference, problem, reference::solve(reference, problem),
                                      tolerance(rule, op, mode), std::as_bytes(std::span(y)), 0);
      EXPECT_TRUE(verdict.passed());
      for (const Objection& found : objections(verdict, rule, op, mode)) {
        ADD_FAILURE() << in << ", " << cuts << ": " << found.text;
      }
      const Band band = bits_band(rule, op, mode).value();
      EXPECT_NEAR(effective_bits(verdict, op), band.low + 0.5, 0.7) << in << ", " << cuts;
    }
  }
}

TEST(SumBound, OfBf16x9HasNineTermsForOneAndGrantsLostParts) {
  const Tolerance t = tolerance(passes(layer()).back().rule, layer(), {});
  EXPECT_EQ(t.description, "sum_bound(L=576,u=2^-24,products=9)+probable(lambda=8.5,P<1e-12)");
  EXPECT_GT(t.scale, 576 * 0x1p-24 * (1 + 0x1p-6));
  EXPECT_LT(t.scale, 576 * 0x1p-24 * (1 + 0x1p-5));
  EXPECT_GE(t.absolute, 2 * 64 * 0x1p-133);
}

TEST(ExactData, OfBf16x9LeaveRoomForPartsOfBothSigns) {
  const auto most = static_cast<double>(input::exact_integers(layer()).limit);
  EXPECT_LE(64 * most * most * (1 + 0x1p-6), 0x1p24);
  EXPECT_GT(most, 256) << "more than one part";
}

constexpr float nan_f32 = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity_f32 = std::numeric_limits<float>::infinity();

TEST(SpecialValues, OfBf16x9MayBeNaNForInfinityAndNoNumber) {
  Example product("linear/bf16x9/batch=1,in=1,out=4,bias=0,act=none");
  product.set<float>(0, {1}).set<float>(1, {infinity_f32, nan_f32, -infinity_f32, 2});
  EXPECT_TRUE(
      product.judge<float>("special_values", {nan_f32, infinity_f32, infinity_f32, 2}).passed());
  EXPECT_EQ(product.judge<float>("special_values", {1e38F, 0, -1e38F, nan_f32}).mismatches, 4);
  EXPECT_EQ(product.judge<float>("real_data", {nan_f32, infinity_f32, infinity_f32, 2}).mismatches,
            3)
      << "in real data NaN is an error like any other";
}

}  // namespace
}  // namespace assay::oracle
