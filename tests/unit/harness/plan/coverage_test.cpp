#include "harness/plan/coverage.h"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

PlannedTrial trial(const std::string& id) {
  return {.test = parse_case_id(id), .lane = {{"cpu", 0}}, .timing = "batch"};
}

double cost_s(const PlannedTrial& trial) {
  return static_cast<double>(trial.test.op.signature.outputs[0].elements());
}

std::vector<std::string> ids(const std::vector<PlannedTrial>& plan) {
  std::vector<std::string> all;
  for (const PlannedTrial& trial : plan) all.push_back(trial.test.id());
  return all;
}

const std::vector<PlannedTrial> plan{
    trial("tensor_ops/add/f32/n=1"),   trial("tensor_ops/add/f32/n=10"),
    trial("tensor_ops/add/f32/n=100"), trial("tensor_ops/add/i64/n=100"),
    trial("tensor_ops/exp/f32/n=5"),   trial("tensor_ops/exp/f32/n=6")};

TEST(Coverage, TouchesEverySuiteOpAndDtypeFirst) {
  const CoverageOrder order = order_by_coverage(plan, 60, cost_s);
  // Each of the three cells gets a third of 60 s. A trial may take half of that.
  EXPECT_EQ(ids(order.first),
            (std::vector<std::string>{"tensor_ops/add/f32/n=10", "tensor_ops/add/i64/n=100",
                                      "tensor_ops/exp/f32/n=6"}))
      << "the costliest that fits, or the cheapest where none does";
  EXPECT_EQ(ids(order.rest),
            (std::vector<std::string>{"tensor_ops/add/f32/n=1", "tensor_ops/exp/f32/n=5",
                                      "tensor_ops/add/f32/n=100"}));
}

TEST(Coverage, TheNextTrialOfACellTakesThePlaceOfASkippedOne) {
  std::vector<PlannedTrial> rest = order_by_coverage(plan, 60, cost_s).rest;
  const std::set<std::string> untested{"tensor_ops/add/f32 on cpu", "tensor_ops/add/i64 on cpu"};
  EXPECT_EQ(ids(take_next(rest, untested)), std::vector<std::string>{"tensor_ops/add/f32/n=1"});
  EXPECT_EQ(ids(rest),
            (std::vector<std::string>{"tensor_ops/exp/f32/n=5", "tensor_ops/add/f32/n=100"}));
  EXPECT_EQ(ids(take_next(rest, untested)), std::vector<std::string>{"tensor_ops/add/f32/n=100"});
  EXPECT_TRUE(take_next(rest, untested).empty());
}

TEST(Coverage, LosesAndDoublesNothing) {
  for (const double budget_s : {0.0, 1.0, 60.0, 1e9}) {
    CoverageOrder order = order_by_coverage(plan, budget_s, cost_s);
    std::multiset<std::string> got;
    for (const auto& part : {order.first, order.rest}) {
      for (const std::string& id : ids(part)) got.insert(id);
    }
    const auto all = ids(plan);
    EXPECT_EQ(got, std::multiset<std::string>(all.begin(), all.end()));
  }
}

TEST(Coverage, OfEachLaneOnItsOwn) {
  std::vector<PlannedTrial> two = plan;
  for (PlannedTrial test : plan) {
    test.lane = {{"sim", 0}};
    two.push_back(test);
  }
  EXPECT_EQ(order_by_coverage(two, 60, cost_s).first.size(), 6U);
  EXPECT_TRUE(order_by_coverage({}, 60, cost_s).first.empty());
}

}  // namespace
}  // namespace assay
