// Orders, places, the greatest and the distinct elements, against lists worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/core/status.h"
#include "kernels/reference/reference.h"

namespace assay::reference {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;
using Places = std::vector<std::int64_t>;

/// Elements of an output from `first` on.
template <class Y, class X = double>
std::vector<Y> of(const std::string& op_and_shape, const std::vector<X>& x, std::size_t output = 0,
                  std::int64_t first = 0) {
  const OpInstance op = of_output(parse_case_id("tensor_ops/" + op_and_shape).op, output);
  std::vector<std::vector<HostTensor>> tensors(1);
  std::ranges::copy(x, tensors[0].emplace_back(op.signature.inputs[0]).as<X>().begin());
  const Problem problem{op, tensors};
  const Reference reference = find(op);
  std::vector<Y> y(static_cast<std::size_t>(op.signature.outputs[0].elements() - first));
  reference.bits(problem, solve(reference, problem), first, std::as_writable_bytes(std::span(y)));
  return y;
}

TEST(Argsort, LeavesEqualElementsAsTheyComeAndNanLast) {
  EXPECT_EQ(of<std::int64_t>("argsort/f64/n=6", Numbers{3, 1, 2, 1, 3, 0}),
            (Places{5, 1, 3, 2, 0, 4}));
  EXPECT_EQ(
      of<std::int64_t>("argsort/f64/n=7", Numbers{nan, 0, infinite, -0.0, -nan, 0, -infinite}),
      (Places{6, 1, 3, 5, 2, 0, 4}))
      << "zeros are equal";
  EXPECT_EQ(of<std::int64_t>("argsort/u8/n=3", std::vector<std::uint8_t>{200, 7, 100}),
            (Places{1, 2, 0}));
  EXPECT_EQ(of<std::int64_t>("argsort/f64/n=0", Numbers{}), Places{});
  EXPECT_EQ(of<std::int64_t>("argsort/f64/n=3", Numbers{2, 1, 3}, 0, 2), Places{2});
}

TEST(SortAxis, SortsLinesThatLieSideBySideOrBehindEachOther) {
  const Numbers x{5, 2, 3, 9, 4, 1, 0, 7, -1, 6, 8, 8};
  EXPECT_EQ(of<double>("sort_axis/f64/outer=2,n=3,inner=2", x),
            (Numbers{3, 1, 4, 2, 5, 9, -1, 6, 0, 7, 8, 8}));
  EXPECT_EQ(of<std::int64_t>("argsort_axis/f64/outer=2,n=3,inner=2", x),
            (Places{1, 2, 2, 0, 0, 1, 1, 1, 0, 0, 2, 2}));
  EXPECT_EQ(of<double>("sort_axis/f64/outer=4,n=3,inner=1", x),
            (Numbers{2, 3, 5, 1, 4, 9, -1, 0, 7, 6, 8, 8}));
  EXPECT_EQ(of<std::int64_t>("argsort_axis/f64/outer=4,n=3,inner=1", x),
            (Places{1, 2, 0, 2, 1, 0, 2, 0, 1, 0, 1, 2}));
  EXPECT_EQ(of<double>("sort_axis/f64/outer=2,n=3,inner=2", x, 0, 7), (Numbers{6, 0, 7, 8, 8}));
  EXPECT_EQ(of<double>("sort_axis/f64/outer=2,n=0,inner=2", Numbers{}), Numbers{});
}

TEST(TopK, PutsNanFirstThenTheGreatestEqualOnesAsTheyCome) {
  const Numbers x{1, nan, 4, 4, 0, nan, -infinite, 2, 2, infinite};
  EXPECT_EQ(of<std::int64_t>("topk/f64/rows=2,cols=5,k=4", x, 1), (Places{1, 2, 3, 0, 0, 4, 2, 3}));
  const Numbers values = of<double>("topk/f64/rows=2,cols=5,k=4", x);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_TRUE(std::isnan(values[4]));
  EXPECT_EQ(values[1], 4);
  EXPECT_EQ(values[3], 1);
  EXPECT_EQ(values[5], infinite);
  EXPECT_EQ(values[7], 2);
  EXPECT_EQ(of<std::int64_t>("topk/f64/rows=1,cols=3,k=3", Numbers{-0.0, 0, -0.0}, 1),
            (Places{0, 1, 2}));
  EXPECT_EQ(
      of<std::int64_t>("topk/u8/rows=1,cols=3,k=2", std::vector<std::uint8_t>{7, 200, 100}, 1),
      (Places{1, 2}));
}

TEST(TopK, HasNoMoreThanARow) {
  Params params;
  for (const auto& [name, value] : {std::pair("rows", 2), {"cols", 3}, {"k", 4}})
    params.set(name, std::int64_t{value});
  EXPECT_THROW(instantiate(*find_op("topk"), DType::f32, params), NotApplicable);
}

TEST(Unique, CountsTheDistinctAndLeavesZerosBehindThem) {
  const Numbers x{3, -1, 3, 0, -0.0, 3};
  EXPECT_EQ(of<double>("unique/f64/n=6", x), (Numbers{-1, 0, 3, 0, 0, 0}));
  EXPECT_EQ(of<std::int64_t>("unique/f64/n=6", x, 1), (Places{1, 2, 3, 0, 0, 0}));
  EXPECT_EQ(of<std::int64_t>("unique/i64/n=4", Places{7, 7, 7, 7}, 1), (Places{4, 0, 0, 0}));
  EXPECT_EQ(of<std::int64_t>("unique/i64/n=4", Places{4, 3, 2, 1}), (Places{1, 2, 3, 4}));
  EXPECT_EQ(of<std::int64_t>("unique/i64/n=0", Places{}, 1), Places{});
}

TEST(Unique, HasEachNanForItselfAndLast) {
  const Numbers x{nan, 1, nan, infinite, 1};
  EXPECT_EQ(of<std::int64_t>("unique/f64/n=5", x, 1), (Places{2, 1, 1, 1, 0}));
  const Numbers values = of<double>("unique/f64/n=5", x);
  EXPECT_EQ(values[1], infinite);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(values[4], 0);
}

}  // namespace
}  // namespace assay::reference
