// Ops of users: the band of a reference that a stand-in for its process measures.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "harness/oracle/compare.h"
#include "harness/oracle/precision.h"
#include "harness/oracle/tolerance.h"
#include "harness/oracle/vacuous.h"
#include "harness/plan/case.h"
#include "kernels/core/status.h"
#include "kernels/ops/defined.h"
#include "kernels/reference/defined.h"

namespace assay::oracle {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double deviation = 0x1p-20;
constexpr std::size_t count = 1000;

/// Defines "twice", whose reference gives 1 + i / 1024 with one deviation for all, except for a
/// few.
class MeasuredBand : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    define_ops({{.name = "twice",
                 .formula = "twice(x[n]) -> [n]",
                 .dtypes = {DType::f32, DType::f16},
                 .parameters = {{"n", {{count, 0}}}},
                 .inputs = {{{std::nullopt, {"n"}}, DefinedNumbers::normal, "", ""}},
                 .outputs = {{std::nullopt, {"n"}}},
                 .terms = "1",
                 .is_ring = true,
                 .rows = ""}});
  }
  void SetUp() override {
    reference::measure_with([&](const reference::Problem&, const Effort& effort) {
      draws_.push_back(effort.draws);
      return std::vector{measured_};
    });
    for (std::size_t i = 0; i < count; ++i) {
      measured_.value.push_back(1 + static_cast<double>(i) / 1024);
      measured_.deviation.push_back(deviation);
    }
  }
  void TearDown() override { reference::measure_with({}); }

  /// Judges outputs that are the values plus errors.
  template <class T, class Error>
  Verdict judged(const char* id, const Error& error_at) {
    const Case test = parse_case_id(id);
    std::vector<T> outputs;
    for (std::size_t i = 0; i < count; ++i) {
      outputs.push_back(T(static_cast<float>(measured_.value[i] + error_at(i))));
    }
    op_ = test.op;
    const reference::Reference reference = reference::find(op_);
    const std::vector<std::vector<HostTensor>> no_inputs(1);
    const reference::Problem problem{op_, no_inputs};
    const reference::State state = reference::solve(reference, problem);
    return compare(reference, problem, state, tolerance(rule_, op_),
                   std::as_bytes(std::span(outputs)), 0);
  }

  Rule rule_{.oracle = Oracle::measured_band};
  MeasuredOutput measured_;
  std::vector<int> draws_;
  OpInstance op_;
};

constexpr auto f32 = "twice/f32/n=1000";
constexpr auto f16 = "twice/f16/n=1000";

TEST_F(MeasuredBand, TakesErrorsOfEightDeviations) {
  EXPECT_TRUE(
      judged<float>(f32, [](std::size_t i) { return i == 5 ? 7.5 * deviation : 0; }).passed());
  const Verdict wrong =
      judged<float>(f32, [](std::size_t i) { return i == 5 ? 8.5 * deviation : 0; });
  EXPECT_EQ(wrong.mismatch_indices, std::vector<std::int64_t>{5});
}

TEST_F(MeasuredBand, DemandsTheRootMeanSquareOfAllErrors) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto objections_at = [&](double size) {
    const Verdict verdict =
        judged<float>(f32, [&](std::size_t) { return size * deviation * normal(random); });
    EXPECT_TRUE(verdict.passed());
    EXPECT_EQ(next_effort(verdict, rule_, op_, {}).has_value(), size > 1);
    return objections(verdict, rule_, op_).size();
  };
  EXPECT_EQ(objections_at(0.6), 0U);
  EXPECT_EQ(objections_at(1.4), 1U);
}

TEST_F(MeasuredBand, TakesNothingElseWhereTheReferenceIsExact) {
  measured_.deviation[7] = 0;
  EXPECT_TRUE(judged<float>(f32, [](std::size_t) { return 0; }).passed());
  const Verdict wrong = judged<float>(f32, [](std::size_t i) { return i == 7 ? 0x1p-23 : 0; });
  EXPECT_EQ(wrong.mismatch_indices, std::vector<std::int64_t>{7});
}

TEST_F(MeasuredBand, JudgesNotWhatTheReferenceCannotTell) {
  measured_.deviation[3] = infinity;
  const Verdict verdict = judged<float>(f32, [](std::size_t i) { return i == 3 ? 1e9 : 0; });
  EXPECT_TRUE(verdict.passed());
  EXPECT_EQ(verdict.unknown, 1);
  EXPECT_EQ(verdict.elements, std::ssize(measured_.value));
}

TEST_F(MeasuredBand, DemandsNaNAndInfinityWhereTheReferenceHasThem) {
  measured_.value[1] = std::nan("");
  measured_.value[2] = infinity;
  EXPECT_TRUE(judged<float>(f32, [](std::size_t) { return 0; }).passed());
  measured_.value[2] = 3;
  const Verdict wrong = judged<float>(f32, [](std::size_t i) { return i == 2 ? infinity : 0; });
  EXPECT_EQ(wrong.mismatch_indices, std::vector<std::int64_t>{2});
}

TEST_F(MeasuredBand, CountsMisroundedOutputsOfFewBits) {
  // Halfway between two numbers of f16, less an eighth of their distance.
  for (std::size_t i = 0; i < count; ++i) {
    measured_.value[i] = 1 + (static_cast<double>(i) + 0.375) / 1024;
  }
  EXPECT_TRUE(objections(judged<Float16>(f16, [](std::size_t) { return 0; }), rule_, op_).empty());
  const auto wrong_at_each = [&](std::size_t step) {
    return judged<Float16>(f16, [=](std::size_t i) { return i % step == 0 ? 0.25 / 1024 : 0; });
  };
  measured_.deviation.assign(count, 0.125 / 1024 / 4);
  EXPECT_EQ(objections(wrong_at_each(3), rule_, op_).size(), 1U);
  EXPECT_TRUE(objections(wrong_at_each(250), rule_, op_).empty());
}

TEST_F(MeasuredBand, LooksAgainWithMoreDraws) {
  judged<float>(f32, [](std::size_t) { return 0; });
  const reference::Reference reference = reference::find(op_);
  const std::vector<std::vector<HostTensor>> no_inputs(1);
  const reference::State before = reference.solve({op_, no_inputs});
  measured_.deviation[4] = infinity;
  const reference::State again = reference.solve_again({op_, no_inputs}, {.draws = 64}, before);
  EXPECT_EQ(draws_, (std::vector<int>{8, 8, 64}));
  EXPECT_FALSE(reference.is_unknown(again, 4)) << "what was told is told again";
}

TEST_F(MeasuredBand, IsMeasuredInEachArithmeticThatIsAllowed) {
  const Verdict wrong = judged<float>(f32, [](std::size_t) { return 1; });
  const auto efforts = [&](Arithmetic allowed) {
    rule_.allowed = allowed;
    std::vector<Arithmetic> all;
    for (std::optional<Effort> effort = Effort{}; effort;
         effort = next_effort(wrong, rule_, op_, *effort)) {
      all.push_back(effort->arithmetic);
    }
    return all;
  };
  using All = std::vector<Arithmetic>;
  EXPECT_EQ(efforts(Arithmetic::f32), (All{Arithmetic::f32}));
  EXPECT_EQ(efforts(Arithmetic::tf32), (All{Arithmetic::f32, Arithmetic::tf32}));
  EXPECT_EQ(efforts(Arithmetic::operands), (All{Arithmetic::f32, Arithmetic::operands}));
  EXPECT_EQ(efforts(Arithmetic::eager),
            (All{Arithmetic::f32, Arithmetic::operands, Arithmetic::eager}));
  const Verdict near = judged<float>(f32, [](std::size_t) { return 5 * deviation; });
  EXPECT_EQ(next_effort(near, rule_, op_, {}).value().draws, 64) << "more of the same come first";
  const Verdict right = judged<float>(f32, [](std::size_t) { return 0; });
  EXPECT_FALSE(next_effort(right, rule_, op_, {}));
}

TEST_F(MeasuredBand, IsMeasuredAgainWhereFewDrawsAgreeByChance) {
  define_ops({{.name = "clamped",
               .formula = "clamped(x[n]) -> [n]",
               .dtypes = {DType::f32},
               .parameters = {{"n", {{count, 0}}}},
               .inputs = {{{std::nullopt, {"n"}}, DefinedNumbers::normal, "", ""}},
               .outputs = {{std::nullopt, {"n"}}},
               .terms = "1",
               .rows = ""}});
  measured_.deviation[7] = 0;
  const auto off_there = [](std::size_t i) { return i == 7 ? 0x1p-23 : 0; };
  Verdict wrong = judged<float>("clamped/f32/n=1000", off_there);
  EXPECT_EQ(next_effort(wrong, rule_, op_, {}).value().draws, 64);
  EXPECT_FALSE(next_effort(wrong, rule_, op_, {.draws = 64}));
  wrong = judged<float>(f32, off_there);
  EXPECT_FALSE(next_effort(wrong, rule_, op_, {})) << "of a ring it is exact";
  wrong = judged<float>("clamped/f32/n=1000", [](std::size_t i) { return i == 9 ? NAN : 0; });
  EXPECT_FALSE(next_effort(wrong, rule_, op_, {}));
}

TEST_F(MeasuredBand, RefusesAnotherNumberOfElements) {
  measured_.value.pop_back();
  EXPECT_THROW(judged<float>(f32, [](std::size_t) { return 0; }), std::runtime_error);
}

TEST_F(MeasuredBand, HasDataOfItsOwnForRings) {
  const Passes of_ring = passes(parse_case_id(f32).op);
  EXPECT_EQ(of_ring.front().name, "exact_data");
  EXPECT_EQ(of_ring.back().name, "real_data");
}

TEST_F(MeasuredBand, RefusesANameThatIsTaken) {
  const auto define_as = [](const char* name) {
    define_ops({{.name = name,
                 .formula = "",
                 .dtypes = {DType::f32},
                 .parameters = {{"n", {{1, 0}}}},
                 .inputs = {{{std::nullopt, {"n"}}, DefinedNumbers::normal, "", ""}},
                 .outputs = {{std::nullopt, {"n"}}},
                 .terms = "1"}});
  };
  EXPECT_THROW(define_as("softmax"), UsageError);
  EXPECT_THROW(define_as("twice"), UsageError);
}

}  // namespace
}  // namespace assay::oracle
