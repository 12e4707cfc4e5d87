// Shapes chosen for boundaries, and how far a plan meets them.
#include "suites/boundaries.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
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
    for (const char* op :
         {"linear", "batched_matmul", "softmax", "layernorm", "rmsnorm", "transpose", "gather",
          "sum", "scan", "argmax", "sort", "topk", "add", "where"}) {
      EXPECT_TRUE(ops.contains(op)) << op;
    }
  }
}

/// Values of each extent that says how much work there is, by op and name, in cases of f32.
std::map<std::string, std::set<std::int64_t>> extents_of_f32(const char* profile) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const Case& one : select_cases({.suites = {"tensor_ops", "linear"}, .profile = profile})) {
    if (one.op.format != DType::f32) continue;
    for (const std::string name :
         {"n", "cols", "rows", "outer", "inner", "batch", "in", "out", "m", "k", "count"}) {
      const bool is_of_rows_apart = name == "cols" && one.op.params.find("n") != nullptr;
      if (one.op.params.find(name) == nullptr || is_of_rows_apart) continue;
      values[std::string(one.op.op->name) + " " + name].insert(one.op.params.integer(name));
    }
  }
  return values;
}

// A kernel has a loop for each tail, and takes another path where there is none.
TEST(Boundaries, EachExtentHasEachTail) {
  // Tables have rows of which any may be chosen, stacks the layers of models; and blocks of 32 are
  // quantized one by one.
  const std::set<std::string> without{"gather rows", "linear_stack batch", "linear_stack in",
                                      "quantize rows", "quantize cols"};
  const std::set<std::string> contiguous{"n", "cols", "inner", "in"};
  for (const auto& [extent, values] : extents_of_f32("smoke")) {
    if (without.contains(extent)) continue;
    const auto has = [&](auto is) { return std::ranges::any_of(values, is); };
    for (const std::int64_t rest : {0, 1, 2, 3}) {
      EXPECT_TRUE(has([&](std::int64_t n) { return n > 0 && n % 4 == rest; }))
          << extent << " has none of " << rest << " modulo 4";
    }
    if (!contiguous.contains(extent.substr(extent.find(' ') + 1))) continue;
    EXPECT_TRUE(has([](std::int64_t n) { return n > 4 && n % 4 == 2; })) << extent;
    EXPECT_TRUE(has([](std::int64_t n) { return n > 8 && n % 8 == 4; })) << extent;
    EXPECT_TRUE(has([](std::int64_t n) { return n > 16 && n % 16 == 8; })) << extent;
    EXPECT_TRUE(has([](std::int64_t n) { return n > 32 && n % 32 == 0 && (n & (n - 1)) != 0; }))
        << extent << " has no odd number of warps";
  }
}

/// Of rows, or arrays, of one op and dtype.
struct Lengths {
  std::set<std::int64_t> of_lines;
  // Of cases with gaps between rows: that are whole vectors, or begin at any address.
  std::int64_t max_rows_of_vectors = 0;
  std::int64_t max_odd_rows = 0;
};

std::map<std::string, Lengths> lengths_by_op_and_dtype(const char* profile) {
  std::map<std::string, Lengths> all;
  for (const Case& one : select_cases({.suites = {"tensor_ops"}, .profile = profile})) {
    const Params& params = one.op.params;
    const bool has_cols = params.integer_or("cols", 0) > 0;
    const bool is_line = has_cols || (params.find("n") != nullptr && params.find("m") == nullptr &&
                                      params.find("inner") == nullptr);
    if (!is_line || one.op.op->name == "quantize") continue;  // in blocks of 32
    Lengths& lengths = all[fmt::format("{} {}", one.op.op->name, name(one.op.format))];
    const std::int64_t length = params.integer(has_cols ? "cols" : "n");
    const std::int64_t ld = params.integer_or("ld", 0);
    if (ld == 0) {
      lengths.of_lines.insert(length);
      continue;
    }
    const std::int64_t rows = one.op.signature.outputs[0].elements() / length;
    if (length % 8 == 0 && ld % 8 == 0)
      lengths.max_rows_of_vectors = std::max(lengths.max_rows_of_vectors, rows);
    if (ld % 2 != 0) lengths.max_odd_rows = std::max(lengths.max_odd_rows, rows);
  }
  return all;
}

// Kernels of each dtype may have loops of their own.
TEST(Boundaries, EachDtypeHasLinesOfWholeVectorsAndOthers) {
  for (const auto& [op, lengths] : lengths_by_op_and_dtype("smoke")) {
    const auto has = [&](auto is) { return std::ranges::any_of(lengths.of_lines, is); };
    EXPECT_TRUE(has([](std::int64_t n) { return n > 32 && n % 32 == 0; })) << op;
    EXPECT_TRUE(has([](std::int64_t n) { return n > 32 && n % 2 != 0; })) << op;
    if (lengths.max_rows_of_vectors + lengths.max_odd_rows == 0) continue;
    EXPECT_GT(lengths.max_rows_of_vectors, 16) << op;
    EXPECT_GT(lengths.max_odd_rows, 16) << op;
  }
}

TEST(Boundaries, TwoExtentsOfATensorAreEqualSomewhere) {
  std::set<std::string> square;
  std::set<std::string_view> of_three_extents;
  for (const Case& one : select_cases({.suites = {"tensor_ops", "linear"}, .profile = "smoke"})) {
    const auto equal = [&](const char* a, const char* b) {
      const Params& params = one.op.params;
      if (params.find(a) == nullptr || params.find(b) == nullptr) return;
      if (params.integer(a) != params.integer(b) || params.integer(a) < 8) return;
      square.insert(std::string(one.op.op->name) + " " + a + " " + b);
    };
    equal("rows", "cols");
    equal("batch", "out");
    equal("k", "n");
    if (one.op.params.find("outer") == nullptr) continue;
    of_three_extents.insert(one.op.op->name);
    equal("outer", "n");
    equal("outer", "inner");
    equal("n", "inner");
  }
  EXPECT_TRUE(of_three_extents.contains("add_broadcast"));
  EXPECT_TRUE(of_three_extents.contains("argmax_axis"));
  for (const std::string_view op : of_three_extents) {
    for (const char* extents : {"outer n", "outer inner", "n inner"})
      EXPECT_TRUE(square.contains(fmt::format("{} {}", op, extents))) << op << " " << extents;
  }
  for (const char* op :
       {"topk rows cols", "transpose rows cols", "softmax rows cols", "layernorm rows cols",
        "rmsnorm rows cols", "linear batch out", "batched_matmul k n"}) {
    EXPECT_TRUE(square.contains(op)) << op;
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
