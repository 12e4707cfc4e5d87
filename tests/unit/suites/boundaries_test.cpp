// Shapes chosen for boundaries, and how far a plan meets them.
#include "suites/boundaries.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "suites/select.h"

namespace assay {
namespace {

const std::vector<Boundaries> parameters{{"batch", {{1, "a"}, {7, "b"}, {65, "c"}}},
                                         {"in", {{2, "d"}, {31, "e"}}},
                                         {"out", {{1, "f"}, {5, "g"}, {600, "h"}}}};

std::int64_t value(const Point& point, std::size_t i) {
  return std::get<std::int64_t>(point.values.at(i));
}

TEST(Boundaries, EachTwoValuesOfTwoParametersMeetInFewPoints) {
  const Axis axis = pairwise(Level::smoke, parameters, 1e9);
  EXPECT_EQ(axis.names, (std::vector<std::string_view>{"batch", "in", "out"}));
  for (const auto& [i, j, pairs] : {std::tuple(0U, 1U, 6U), {0U, 2U, 9U}, {1U, 2U, 6U}}) {
    std::set<std::pair<std::int64_t, std::int64_t>> met;
    for (const Point& point : axis.points) met.emplace(value(point, i), value(point, j));
    EXPECT_EQ(met.size(), pairs);
  }
  EXPECT_GE(axis.points.size(), 9);
  EXPECT_LT(axis.points.size(), 18) << "all triples";
}

TEST(Boundaries, NoPointIsMoreThanItsWork) {
  const Axis axis = pairwise(Level::smoke, parameters, 2000);
  std::set<std::int64_t> outs;
  for (const Point& point : axis.points) {
    EXPECT_LE(value(point, 0) * value(point, 1) * value(point, 2), 2000);
    outs.insert(value(point, 2));
  }
  EXPECT_TRUE(outs.contains(600)) << "beside the smallest others";
}

TEST(Boundaries, TheProfilesMeetEachWithAReason) {
  for (const char* profile : {"smoke", "default"}) {
    const std::vector<Coverage> all = coverage(select_cases({.profile = profile}));
    std::set<std::string> ops;
    for (const Coverage& op : all) {
      ops.insert(op.op);
      EXPECT_EQ(op.pairs_met, op.pairs) << op.op;
      for (const Coverage::Value& value : op.values) {
        EXPECT_GT(value.cases, 0) << op.op << " " << value.parameter << "=" << value.boundary.value;
        EXPECT_NE(value.boundary.reason, "");
      }
    }
    for (const char* op : {"linear", "batched_matmul", "softmax", "layernorm", "transpose",
                           "gather", "sum", "scan", "argmax", "sort", "add", "where"}) {
      EXPECT_TRUE(ops.contains(op)) << op;
    }
  }
}

TEST(Boundaries, ACaseAtNoneCountsForNone) {
  for (const Coverage& op : coverage(select_cases({.cases = {"tensor_ops/sum/f32/n=1003"}}))) {
    EXPECT_EQ(op.pairs_met, 0);
    for (const Coverage::Value& value : op.values) EXPECT_EQ(value.cases, 0);
  }
}

}  // namespace
}  // namespace assay
