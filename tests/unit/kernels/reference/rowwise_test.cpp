// References of rows, against numbers worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/reference/reference.h"

namespace assay::reference {
namespace {

/// rmsnorm of rows of two elements, in f64.
std::vector<double> rmsnorm(const std::vector<double>& x, const std::vector<double>& weight) {
  const std::string rows = std::to_string(x.size() / 2);
  const OpInstance op = parse_case_id("tensor_ops/rmsnorm/f64/rows=" + rows + ",cols=2").op;
  std::vector<std::vector<HostTensor>> tensors(1);
  for (std::size_t i = 0; const auto& input : {x, weight}) {
    HostTensor& tensor = tensors[0].emplace_back(op.signature.inputs.at(i++));
    std::ranges::copy(input, tensor.as<double>().begin());
  }
  const Problem problem{op, tensors};
  const Reference reference = find(op);
  std::vector<double> y(x.size());
  std::vector<double> rest(x.size());
  std::vector<double> scale(x.size());
  reference.values(problem, solve(reference, problem), 0, {y, rest, scale});
  return y;
}

TEST(RmsNorm, DividesEachRowByTheRootOfItsMeanSquareAndEpsilon) {
  const auto y = rmsnorm({3, 4, 0.001, -0.003, 0, -0.0}, {2, -0.5});
  const std::vector<double> wanted{6 / std::sqrt(12.50001),
                                   -2 / std::sqrt(12.50001),
                                   0.002 / std::sqrt(1.5e-5),
                                   0.0015 / std::sqrt(1.5e-5),
                                   0,
                                   0};
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], wanted[i], 1e-15) << i;
}

TEST(RmsNorm, OfAnInfinityLeavesZeroAndNan) {
  const auto y = rmsnorm({3, std::numeric_limits<double>::infinity()}, {1, 1});
  EXPECT_EQ(y[0], 0);
  EXPECT_TRUE(std::isnan(y[1]));
}

}  // namespace
}  // namespace assay::reference
