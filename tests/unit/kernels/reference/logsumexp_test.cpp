// Logarithms of sums of exponentials, against numbers worked out by hand, and what is allowed of
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harness/oracle/tolerance.h"
#include "harness/plan/case.h"
#include "kernels/reference/reference.h"

namespace assay::reference {
namespace {

struct Logarithms {
  std::vector<double> y;
  std::vector<double> rest;
  std::vector<double> scale;
};

Logarithms of(const std::string& op_and_shape, const std::vector<double>& x) {
  const OpInstance op = parse_case_id("tensor_ops/" + op_and_shape).op;
  std::vector<std::vector<HostTensor>> tensors(1);
  HostTensor& tensor = tensors[0].emplace_back(op.signature.inputs[0]);
  std::ranges::copy(x, tensor.as<double>().begin());
  const Problem problem{op, tensors};
  const Reference reference = find(op);
  const auto lines = static_cast<std::size_t>(op.signature.outputs[0].elements());
  Logarithms all{std::vector<double>(lines), std::vector<double>(lines),
                 std::vector<double>(lines)};
  reference.values(problem, solve(reference, problem), 0, {all.y, all.rest, all.scale});
  return all;
}

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(LogSumExp, OfKnownSums) {
  EXPECT_NEAR(of("logsumexp/f64/n=3", {0, std::log(2), std::log(3)}).y[0], std::log(6), 1e-15);
  EXPECT_NEAR(of("logsumexp/f64/n=2", {1000, 1000}).y[0], 1000 + std::log(2), 1e-12);
  EXPECT_NEAR(of("logsumexp/f64/n=2", {-1000, -1000}).y[0], -1000 + std::log(2), 1e-12);
  const auto columns = of("logsumexp_axis/f64/outer=1,n=2,inner=3", {0, 5, 7, 0, -infinite, 7}).y;
  EXPECT_NEAR(columns[0], std::log(2), 1e-15);
  EXPECT_EQ(columns[1], 5);
  EXPECT_NEAR(columns[2], 7 + std::log(2), 1e-14);
}

TEST(LogSumExp, OfInfinitiesAndNan) {
  EXPECT_EQ(of("logsumexp/f64/n=2", {-infinite, -infinite}).y[0], -infinite);
  EXPECT_EQ(of("logsumexp/f64/n=3", {-infinite, infinite, 1}).y[0], infinite);
  EXPECT_TRUE(std::isnan(of("logsumexp/f64/n=3", {infinite, std::nan(""), 1}).y[0]));
}

TEST(LogSumExp, HasTheErrorOfItsArgumentsLogarithmAndSum) {
  // Arguments 0 and -1: (1 / e) / (1 + 1 / e). log: at most 4 ulp, 8 roundings, of s = 1 + 1 / e.
  const double log_of_sum = std::log1p(std::exp(-1));
  const Logarithms one = of("logsumexp/f64/n=2", {3, 2});
  EXPECT_NEAR(one.scale[0], 1 / (std::exp(1) + 1) + 8 * log_of_sum + 3 + log_of_sum, 1e-14);
  const auto roundings = [](std::int64_t n, const char* name) {
    const OpInstance op = parse_case_id("tensor_ops/logsumexp/f32/n=" + std::to_string(n)).op;
    const Passes all = passes(op);
    return oracle::tolerance(std::ranges::find(all, name, &Pass::name)->rule, op).absolute * 0x1p24;
  };
  // Exponentials of 4 ulp: 10 roundings each, and 9 for each of log2 n + 1 factors.
  EXPECT_NEAR(roundings(1024, "real_data"), 10 + 1024 + 9 * 11, 1e-3);
  EXPECT_NEAR(roundings(1024, "two_logits"), 10 + 2 + 9 * 2, 1e-3);
  EXPECT_NEAR(roundings(1 << 20, "real_data"), 10 + 65536 + 9 * 17, 0.1) << "no longer chain";
}

}  // namespace
}  // namespace assay::reference
