// Gradients of layers against products worked out by hand, and against the loops that define them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/execute/verify_launch.h"
#include "harness/input/panel.h"
#include "harness/plan/case.h"
#include "kernels/reference/reference.h"

namespace assay::reference {
namespace {

struct Gradient {
  std::vector<double> y;
  std::vector<double> rest;
  std::vector<double> magnitude;
};

Gradient of(const OpInstance& op, const RankInputs& inputs, const Panel& panel = {}) {
  const Problem problem{op, inputs, panel};
  const Reference reference = find(op);
  const auto elements = static_cast<std::size_t>(op.signature.outputs[0].elements());
  Gradient all{std::vector<double>(elements), std::vector<double>(elements),
               std::vector<double>(elements)};
  reference.values(problem, solve(reference, problem), 0, {all.y, all.rest, all.magnitude});
  return all;
}

Gradient of(const std::string& id, const std::vector<double>& a, const std::vector<double>& b) {
  const OpInstance op = parse_case_id("linear/" + id).op;
  RankInputs inputs(1);
  for (std::size_t i = 0; i < 2; ++i) {
    std::ranges::copy(i == 0 ? a : b,
                      inputs[0].emplace_back(op.signature.inputs[i]).as<double>().begin());
  }
  return of(op, inputs);
}

TEST(MatmulGradients, OfKnownLayers) {
  // dy = (1 2 3; 4 5 6), w = (1 -1; 10 0; 100 2).
  const Gradient dx =
      of("linear_dx/f64/batch=2,in=2,out=3", {1, 2, 3, 4, 5, 6}, {1, -1, 10, 0, 100, 2});
  EXPECT_EQ(dx.y, (std::vector<double>{321, 5, 654, 8}));
  EXPECT_EQ(dx.magnitude, (std::vector<double>{321, 7, 654, 16}));
  // dy as above, x = (1 -1; 10 0).
  const Gradient dw = of("linear_dw/f64/batch=2,in=2,out=3", {1, 2, 3, 4, 5, 6}, {1, -1, 10, 0});
  EXPECT_EQ(dw.y, (std::vector<double>{41, -1, 52, -2, 63, -3}));
  EXPECT_EQ(dw.magnitude, (std::vector<double>{41, 1, 52, 2, 63, 3}));
}

/// Element (b, i) of dx, or (o, i) of dw, from the formula.
double by_loop(const OpInstance& op, const RankInputs& inputs, std::int64_t row,
               std::int64_t column) {
  const auto in = op.params.integer("in");
  const auto out = op.params.integer("out");
  const auto a = inputs[0][0].as<float>();
  const auto b = inputs[0][1].as<float>();
  const bool is_dx = op.op->name == "linear_dx";
  double sum = 0;
  for (std::int64_t l = 0; l < (is_dx ? out : op.params.integer("batch")); ++l) {
    const auto at_a = static_cast<std::size_t>(is_dx ? row * out + l : l * out + row);
    sum += static_cast<double>(a[at_a]) *
           static_cast<double>(b[static_cast<std::size_t>(l * in + column)]);
  }
  return sum;
}

// 300 lines repeat: the reference solves a panel of them.
TEST(MatmulGradients, AreWhatTheFormulaSays) {
  for (const std::string id :
       {"linear_dx/f32/batch=5,in=19,out=7", "linear_dw/f32/batch=5,in=19,out=7",
        "linear_dx/f32/batch=300,in=290,out=3", "linear_dw/f32/batch=3,in=290,out=300"}) {
    const OpInstance op = parse_case_id("linear/" + id).op;
    const int last = static_cast<int>(std::ssize(passes(op))) - 1;
    const RankInputs inputs = generate_inputs(op, last, 3, 1);
    const std::vector<double> y = of(op, inputs, input::panel(op, last)).y;
    const std::int64_t columns = op.signature.outputs[0].shape[1];
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      ASSERT_NEAR(y[i], by_loop(op, inputs, at / columns, at % columns), 1e-10) << id << " " << i;
    }
  }
}

}  // namespace
}  // namespace assay::reference
