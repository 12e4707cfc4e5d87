// Running sums along an axis, against numbers worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/reference/reference.h"

namespace assay::reference {
namespace {

template <class T>
std::vector<std::vector<HostTensor>> inputs(const OpInstance& op, const std::vector<T>& x) {
  std::vector<std::vector<HostTensor>> tensors(1);
  std::ranges::copy(x, tensors[0].emplace_back(op.signature.inputs[0]).as<T>().begin());
  return tensors;
}

/// Sums from element `first` on, and the scales of their bounds.
struct Sums {
  std::vector<double> value;
  std::vector<double> scale;
};
Sums sums_of(const std::string& shape, const std::vector<double>& x, std::int64_t first = 0) {
  const OpInstance op = parse_case_id("tensor_ops/scan_axis/f64/" + shape).op;
  const auto tensors = inputs(op, x);
  const Problem problem{op, tensors};
  const Reference reference = find(op);
  const std::size_t count = x.size() - static_cast<std::size_t>(first);
  Sums sums{std::vector<double>(count), std::vector<double>(count)};
  std::vector<double> rest(count);
  reference.values(problem, solve(reference, problem), first, {sums.value, rest, sums.scale});
  return sums;
}

using Row = std::vector<double>;

TEST(ScanAxis, SumsLinesThatLieSideBySideOrBehindEachOther) {
  const Row x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(sums_of("outer=2,n=3,inner=2", x).value,
            (Row{1, 2, 4, 6, 9, 12, 7, 8, 16, 18, 27, 30}));
  EXPECT_EQ(sums_of("outer=2,n=3,inner=2", x, 5).value, (Row{12, 7, 8, 16, 18, 27, 30}));
  EXPECT_EQ(sums_of("outer=4,n=3,inner=1", x).value,
            (Row{1, 3, 6, 4, 9, 15, 7, 15, 24, 10, 21, 33}));
  EXPECT_EQ(sums_of("outer=4,n=3,inner=1", x, 4).value, (Row{9, 15, 7, 15, 24, 10, 21, 33}));
}

TEST(ScanAxis, BeginsBlocksOfLinesAnew) {
  constexpr std::int64_t n = 40;  // more than one block of columns
  Row x(2 * n * 3);
  std::ranges::fill(x, 1);
  const Row all = sums_of("outer=2,n=40,inner=3", x).value;
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(all[i], static_cast<double>(i / 3 % n + 1));
  for (const std::int64_t first : {1, 47, 48, 50, 119, 120, 200}) {
    const Row some = sums_of("outer=2,n=40,inner=3", x, first).value;
    EXPECT_TRUE(std::ranges::equal(some, std::span(all).subspan(static_cast<std::size_t>(first))))
        << first;
  }
}

TEST(ScanAxis, AllowsASumTheErrorOfItsOwnTerms) {
  EXPECT_EQ(sums_of("outer=1,n=2,inner=2", {-1, 2, 3, -4}).scale, (Row{0.5, 1, 4, 6}));
  const OpInstance op = parse_case_id("tensor_ops/scan_axis/f32/outer=2,n=4,inner=3").op;
  EXPECT_EQ(find(op).share(op, 12 + 3), 0.5);
}

TEST(ScanAxis, OfIntegersWraps) {
  const OpInstance op = parse_case_id("tensor_ops/scan_axis/i32/outer=1,n=2,inner=2").op;
  const auto tensors = inputs<std::int32_t>(op, {INT32_MAX, 1, 1, 2});
  const Problem problem{op, tensors};
  std::vector<std::int32_t> y(4);
  find(op).bits(problem, solve(find(op), problem), 0, std::as_writable_bytes(std::span(y)));
  EXPECT_EQ(y, (std::vector<std::int32_t>{INT32_MAX, 1, INT32_MIN, 3}));
}

}  // namespace
}  // namespace assay::reference
