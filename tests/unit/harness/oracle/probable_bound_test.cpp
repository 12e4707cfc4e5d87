// Long sums of real data: wrong ones fail, and right ones pass in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/execute/verify_launch.h"
#include "harness/oracle/number.h"
#include "tests/unit/example.h"

namespace assay::oracle {
namespace {

/// A reduction of the real data that a seed gives.
struct Reduction {
  OpInstance op;
  int pass;
  RankInputs inputs;
  reference::Reference expected = reference::find(op);
  reference::Problem problem{op, inputs};
  reference::State state = reference::solve(expected, problem);
  Tolerance tolerated;

  explicit Reduction(const std::string& id, std::uint64_t seed = 1)
      : op(parse_case_id(id).op),
        pass(static_cast<int>(passes(op).size()) - 1),
        inputs(generate_inputs(op, pass, seed, 1)),
        tolerated(tolerance(passes(op).back().rule, op)) {}

  /// Verdict on a result that is rounded to the output's dtype.
  Verdict judge(double y) const {
    return visit_computed(output_dtype(op), [&]<class T>(std::type_identity<T>) -> Verdict {
      if constexpr (std::is_integral_v<T>) {
        return {};
      } else {
        const T rounded = correctly_rounded<T>(y, 0);
        return compare(expected, problem, state, tolerated, std::as_bytes(std::span(&rounded, 1)),
                       0);
      }
    });
  }

  /// Result of the terms from `first` up to `last` alone, each counted `times` times.
  double partial(std::size_t first, std::size_t last, double times = 1) const {
    const std::string_view name = op.op->name;
    double sum = 0;
    double product = 1;
    visit_computed(op.dtype(), [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::is_integral_v<T>) {
        const auto a = inputs[0][0].template as<T>();
        const auto b = inputs[0].back().template as<T>();
        for (std::size_t i = first; i < last; ++i) {
          const double x = widen(a[i]);
          sum += name == "dot" || name == "norm2" ? x * widen(b[i]) : x;
          product *= x;
        }
      }
    });
    if (name == "prod") return std::copysign(std::pow(std::abs(product), times), product);
    if (name == "mean") sum /= static_cast<double>(op.signature.terms);
    return name == "norm2" ? std::sqrt(times * sum) : times * sum;
  }
};

std::string reduction(const std::string& name, const std::string& dtype, int log_n) {
  return "tensor_ops/" + name + "/" + dtype + "/n=" + std::to_string(std::int64_t{1} << log_n);
}

/// Names the wrong results that pass.
std::string passing(const Reduction& r) {
  const auto n = static_cast<std::size_t>(r.op.signature.terms);
  std::string found;
  const auto test = [&](const char* name, double y) {
    if (r.judge(y).passed()) found += std::string(name) + " ";
  };
  test("0", 0);
  test("3", 3);  // and not 1, which is the mean where the data are scaled by 2
  test("sixteenth", r.partial(0, n / 16));
  test("no last 64th", r.partial(0, n - n / 64));
  if (!r.judge(r.partial(0, n)).passed()) found += "the right one does not pass";
  return found;
}

TEST(ProbableBound, WrongReductionsOfRealDataFail) {
  for (const char* name : {"sum", "mean", "dot", "norm2", "prod"}) {
    for (const int log_n : {10, 16, 21, 24}) {
      for (const std::uint64_t seed : {1U, 2U}) {
        const std::string id = reduction(name, "f32", log_n);
        EXPECT_EQ(passing(Reduction(id, seed)), "") << id;
      }
    }
  }
}

TEST(ProbableBound, WrongReductionsOfNarrowRealDataFail) {
  for (const char* dtype : {"f16", "bf16"}) {
    for (const char* name : {"sum", "mean", "dot", "prod"}) {
      const std::string id = reduction(name, dtype, 21);
      EXPECT_EQ(passing(Reduction(id)), "") << id;
    }
  }
  EXPECT_EQ(passing(Reduction(reduction("norm2", "f16", 21))), "");
  EXPECT_EQ(passing(Reduction(reduction("norm2", "bf16", 21))), "no last 64th ")
      << "its probabilistic bound ends at 2^16 terms";
}

TEST(ProbableBound, ASixteenthTakenForAllFailsWhereItsNoiseIsLarger) {
  // It differs by sqrt(15 / n) sigma / mean; the bound grows as sqrt n.
  for (const char* name : {"sum", "mean", "dot", "norm2", "prod"}) {
    for (const int log_n : {10, 16}) {
      const Reduction r(reduction(name, "f32", log_n));
      EXPECT_FALSE(r.judge(r.partial(0, std::size_t{1} << (log_n - 4), 16)).passed()) << log_n;
    }
  }
}

using Summation = std::function<float(std::span<const float>)>;

float in_lanes(std::span<const float> terms, std::size_t lanes) {
  std::vector<float> sums(lanes);
  for (std::size_t i = 0; i < terms.size(); ++i) sums[i % lanes] += terms[i];
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

float pairwise(std::span<const float> terms) {
  if (terms.size() == 1) return terms[0];
  const std::size_t half = terms.size() / 2;
  return pairwise(terms.first(half)) + pairwise(terms.subspan(half));
}

TEST(ProbableBound, SumsInAnyOrderPass) {
  for (const char* dtype : {"f32", "bf16", "f16"}) {
    for (const char* name : {"sum", "mean", "dot", "norm2"}) {
      for (const int log_n : {10, 16, 20, 22}) {
        const Reduction r(reduction(name, dtype, log_n), static_cast<std::uint64_t>(log_n));
        const bool squares = r.op.signature.factors_per_term == 2;
        std::vector<float> terms;
        visit_computed(r.op.dtype(), [&]<class T>(std::type_identity<T>) {
          if constexpr (!std::is_integral_v<T>) {
            const auto a = r.inputs[0][0].template as<T>();
            const auto b = r.inputs[0].back().template as<T>();
            for (std::size_t i = 0; i < a.size(); ++i) {
              terms.push_back(
                  static_cast<float>(squares ? widen(a[i]) * widen(b[i]) : widen(a[i])));
            }
          }
        });
        const auto finished = [&](float sum) -> double {
          if (std::string_view(name) == "mean") return sum / static_cast<double>(terms.size());
          return std::string_view(name) == "norm2" ? std::sqrt(sum) : sum;
        };
        for (const std::size_t lanes : {1, 2, 4, 8, 16, 64}) {
          EXPECT_TRUE(r.judge(finished(in_lanes(terms, lanes))).passed())
              << name << " " << dtype << " 2^" << log_n << " in " << lanes;
        }
        EXPECT_TRUE(r.judge(finished(pairwise(terms))).passed()) << name << dtype << log_n;
      }
    }
  }
}

TEST(ProbableBound, AProductInLanesPasses) {
  for (const char* dtype : {"f32", "bf16", "f16"}) {
    for (const int log_n : {4, 10, 16, 22}) {
      const Reduction r(reduction("prod", dtype, log_n));
      std::vector<float> products(16, 1.0F);
      visit_computed(r.op.dtype(), [&]<class T>(std::type_identity<T>) {
        if constexpr (!std::is_integral_v<T>) {
          const auto x = r.inputs[0][0].template as<T>();
          for (std::size_t i = 0; i < x.size(); ++i) {
            products[i % 16] *= static_cast<float>(widen(x[i]));
          }
        }
      });
      float y = 1;
      for (const float product : products) y *= product;
      EXPECT_TRUE(r.judge(y).passed()) << dtype << log_n;
    }
  }
}

TEST(ProbableBound, EachElementOfAScanHasItsOwn) {
  const Reduction r("tensor_ops/scan/f32/n=1048576");
  const auto x = r.inputs[0][0].as<float>();
  const auto judge = [&](std::size_t from) {
    std::vector<float> y(x.size());
    float sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = sum += i < from ? 0 : x[i];
    return compare(r.expected, r.problem, r.state, r.tolerated, std::as_bytes(std::span(y)), 0);
  };
  const Verdict plain_loop = judge(0);
  EXPECT_TRUE(plain_loop.passed());
  EXPECT_LT(plain_loop.max_bound_ratio.value_or(1), 1);
  const Verdict late = judge(64);
  EXPECT_GT(late.mismatches, 150000) << "32 is beyond lambda u 0.6 i^1.5 up to there";
  EXPECT_TRUE(late.mismatches < 250000);
}

TEST(ProbableBound, ASumWithinTheProvedBoundAloneIsImprobable) {
  const Reduction r(reduction("sum", "f32", 21));
  const Verdict short_by_a_64th = r.judge(r.partial(0, (std::size_t{1} << 21) * 63 / 64));
  EXPECT_TRUE(short_by_a_64th.only_improbable());
  EXPECT_NE(short_by_a_64th.text().find("beyond the probabilistic one"), std::string::npos);
  const Verdict zero = r.judge(0);
  EXPECT_EQ(zero.mismatches, 1);
  EXPECT_FALSE(zero.only_improbable());
  Verdict both = short_by_a_64th;
  both.merge(zero);
  EXPECT_FALSE(both.only_improbable());
}

std::string judged_by(const char* id, const MathMode& mode = {}) {
  const OpInstance op = parse_case_id(id).op;
  return tolerance(passes(op).back().rule, op, mode).description;
}

TEST(ProbableBound, LambdaGivesTheStatedChance) {
  EXPECT_EQ(judged_by("tensor_ops/sum/f32/n=1048576"),
            "sum_bound(L=1048576,u=2^-24)+probable(lambda=9.2,P<1e-12)");
  const double lambda = 9.185;
  EXPECT_NEAR(std::log10(2 * 0x1p20 * std::exp(-lambda * lambda / 2)), -12, 0.1);
}

TEST(ProbableBound, HoldsForRoundingToNearestAndDataWithoutBiasAlone) {
  EXPECT_EQ(judged_by("tensor_ops/sum/f32/n=1048576", {.rounding = MathMode::Rounding::truncation}),
            "sum_bound(L=1048576,u=2^-23,truncating)");
  EXPECT_EQ(judged_by("tensor_ops/sum/f32/n=67108865"), "sum_bound(L=67108865,u=2^-24)")
      << "beyond 4 2^24 terms";
  EXPECT_EQ(judged_by("tensor_ops/norm2/bf16/n=65537").find("probable"), std::string::npos);
  EXPECT_EQ(judged_by("tensor_ops/sum/f32/n=64"), "sum_bound(L=64,u=2^-24)")
      << "no less than the proved one";
  const OpInstance small = parse_case_id("tensor_ops/sum/f32/n=1003").op;
  for (const Pass& pass : passes(small)) {
    if (!pass.has_specials()) continue;
    EXPECT_FALSE(tolerance(pass.rule, small).probable) << "subnormal numbers have exact sums";
  }
}

}  // namespace
}  // namespace assay::oracle
