#include "kernels/ops/function_errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

/// Returns the ops that evaluate a function on their data, and are judged by its declared error.
std::vector<const Op*> functions() {
  std::vector<const Op*> found;
  for (const Op& op : op_table()) {
    if (!op.passes.empty() && op.passes.back().rule.oracle == Oracle::function_bound) {
      found.push_back(&op);
    }
  }
  return found;
}

TEST(FunctionErrors, AreThePublishedOnes) {
  struct Published {
    double f32;
    double f64;
  };
  // CUDA C++ Programming Guide, release 12, Mathematical Functions, maximum ulp error.
  const std::map<std::string_view, Published> cuda{
      {"exp", {2, 1}}, {"log", {1, 1}}, {"tanh", {2, 1}}, {"pow", {4, 2}}, {"erfc", {4, 5}}};
  for (const FunctionError& row : function_errors()) {
    SCOPED_TRACE(row.op);
    ASSERT_TRUE(cuda.contains(row.function)) << row.function;
    EXPECT_EQ(row.cuda_f32, cuda.at(row.function).f32);
    EXPECT_EQ(row.cuda_f64, cuda.at(row.function).f64);
    EXPECT_EQ(row.libmvec, 4);
  }
}

TEST(FunctionErrors, LackNoFunctionAndAreWhatItsRuleAllows) {
  EXPECT_GE(functions().size(), 7U);
  for (const Op* op : functions()) {
    SCOPED_TRACE(op->name);
    const Declared declared = declared_error(op->name);
    for (const Pass& pass : op->passes) {
      EXPECT_EQ(pass.rule.ulps, declared.ulps);
      EXPECT_EQ(pass.rule.argument_units, declared.argument_units);
    }
  }
  EXPECT_EQ(function_errors().size(), functions().size()) << "a row that is not used";
  EXPECT_THROW(declared_error("add"), std::logic_error);
}

TEST(FunctionErrors, OfEachLibraryAreAllowedByEachRule) {
  for (const Op* op : functions()) {
    SCOPED_TRACE(op->name);
    const auto row = std::ranges::find(function_errors(), op->name, &FunctionError::op);
    ASSERT_NE(row, function_errors().end());
    const double cuda = std::max(row->cuda_f32, row->cuda_f64) + 0.5;  // from the rounded result
    const Rule& rule = op->passes.back().rule;
    if (rule.argument_units == 0) {
      EXPECT_GE(rule.ulps, cuda + row->operations);
      EXPECT_GE(rule.ulps, row->libmvec + row->operations);
    } else {
      // Both are x f with f at most 1, and an ulp is at most 2 u of it. Besides: an addition and a
      // division behind an exponential, 2 u |x| for the rounded argument, and the last product.
      EXPECT_GE(rule.argument_units, 2 * cuda + 2 + 2 + 1);
    }
  }
}

}  // namespace
}  // namespace assay
