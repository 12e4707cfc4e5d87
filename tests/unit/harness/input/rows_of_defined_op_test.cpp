// Large ops of users: rows repeat, and the reference of a few judges all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "harness/input/generate.h"
#include "harness/input/panel.h"
#include "harness/oracle/compare.h"
#include "harness/oracle/tolerance.h"
#include "harness/plan/case.h"
#include "kernels/ops/defined.h"
#include "kernels/reference/defined.h"
#include "kernels/reference/reference.h"

namespace assay {
namespace {

constexpr auto large = "scaled/f32/rows=400,cols=3000";
constexpr std::int64_t rows = 400;
constexpr std::int64_t cols = 3000;

/// Defines "scaled": each row of x times g.
class RowsOfDefinedOp : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const DefinedInput x{{std::nullopt, {"rows", "cols"}}, DefinedNumbers::normal, "", ""};
    const DefinedInput g{{std::nullopt, {"cols"}}, DefinedNumbers::normal, "", ""};
    define_ops({{.name = "scaled",
                 .formula = "scaled(x[rows,cols], g[cols]) -> [rows,cols]",
                 .dtypes = {DType::f32},
                 .parameters = {{"rows", {{rows, 0}, {7, 0}}}, {"cols", {{cols, 0}}}},
                 .inputs = {x, g},
                 .outputs = {{std::nullopt, {"rows", "cols"}}},
                 .terms = "1",
                 .rows = "rows"}});
  }
  void TearDown() override { reference::measure_with({}); }

  static std::vector<float> generated(const OpInstance& op, int pass, int input,
                                      bool may_repeat = true) {
    HostTensor tensor(op.signature.inputs[static_cast<std::size_t>(input)]);
    input::TensorKey key{.seed = 1, .pass = pass, .input = input};
    key.may_repeat = may_repeat;
    input::generate(op, passes(op)[static_cast<std::size_t>(pass)], key, tensor);
    const auto elements = tensor.as<float>();
    return {elements.begin(), elements.end()};
  }
  /// The first row that equals row 0 again; 0: none.
  static std::int64_t period(const std::vector<float>& x) {
    for (std::int64_t row = 1; row < rows; ++row) {
      if (std::equal(x.begin(), x.begin() + cols, x.begin() + row * cols)) return row;
    }
    return 0;
  }
};

TEST_F(RowsOfDefinedOp, RepeatWithAnotherPeriodInTheFirstPass) {
  const OpInstance op = parse_case_id(large).op;
  EXPECT_EQ(period(generated(op, 0, 0)), 37);
  EXPECT_EQ(period(generated(op, 1, 0)), 41);
  EXPECT_EQ(period(generated(op, 1, 0, false)), 0) << "timed launches";
  EXPECT_EQ(input::rows_before_repeat(op, 1, 1), 0) << "no rows";
  EXPECT_EQ(input::panel(parse_case_id("scaled/f32/rows=7,cols=3000").op, 0).rows, 0);
}

TEST_F(RowsOfDefinedOp, RepeatNoLaterThanTheyEnd) {
  for (const std::int64_t count : {4, 9, 18, 40, 130, 262, 100'000, 1'000'000}) {
    const OpInstance op =
        parse_case_id("scaled/f32/rows=" + std::to_string(count) + ",cols=3000000").op;
    for (const int pass : {0, 1}) EXPECT_LT(input::panel(op, pass).rows, count);
    EXPECT_GT(input::panel(op, 0).rows, 0) << count;
  }
}

TEST_F(RowsOfDefinedOp, RepeatOnAllData) {
  const OpInstance op = parse_case_id(large).op;
  for (int pass = 0; pass < std::ssize(passes(op)); ++pass) {
    const std::vector<float> x = generated(op, pass, 0);
    const std::int64_t few = input::panel(op, pass).rows;
    const auto is_again = [&](float one, float before) { return one == before || std::isnan(one); };
    EXPECT_TRUE(std::equal(x.begin() + few * cols, x.end(), x.begin(), is_again)) << pass;
  }
}

TEST_F(RowsOfDefinedOp, AreJudgedByTheReferenceOfAFew) {
  const OpInstance op = parse_case_id(large).op;
  const std::int64_t few = input::panel(op, 1).rows;
  const std::vector<float> x = generated(op, 1, 0);
  reference::measure_with([&](const reference::Problem& problem, const Effort&) {
    EXPECT_EQ(problem.panel.rows, few);
    MeasuredOutput measured;
    measured.value.assign(x.begin(), x.begin() + few * cols);
    measured.deviation.assign(measured.value.size(), 0x1p-30);
    return std::vector{measured};
  });
  const std::vector<std::vector<HostTensor>> no_inputs(1);
  const reference::Problem problem{.op = op, .ranks = no_inputs, .panel = {.rows = few}};
  const reference::Reference reference = reference::find(op);
  const reference::State state = reference::solve(reference, problem);
  const oracle::Tolerance tolerance = oracle::tolerance(passes(op)[1].rule, op);
  const auto judged = [&](const std::vector<float>& y) {
    return oracle::compare(reference, problem, state, tolerance, std::as_bytes(std::span(y)), 0);
  };
  EXPECT_TRUE(judged(x).passed());
  EXPECT_EQ(judged(x).elements, rows * cols);
  std::vector<float> wrong = x;
  wrong.back() += 1;
  EXPECT_EQ(judged(wrong).mismatch_indices, std::vector<std::int64_t>{rows * cols - 1});
  wrong = x;
  std::rotate(wrong.begin(), wrong.begin() + 37 * cols, wrong.end());
  EXPECT_FALSE(judged(wrong).passed()) << "moved by the period of the first pass";
}

}  // namespace
}  // namespace assay
