// Large numbers at borders: a maximum that a kernel overlooks there.
#include "harness/input/border_needles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "kernels/ops/borders.h"

namespace assay::input {
namespace {

using Shape = std::vector<std::int64_t>;

bool is_large(float x) { return std::abs(x) >= 8; }

TEST(BorderNeedles, EachLineAlongEachExtentHasOneAtABorder) {
  const Shape shape{40, 100, 64};
  std::vector<float> x(40 * 100 * 64);
  lay_border_needles<float>(x, shape, 5);
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return x[static_cast<std::size_t>((i * 100 + j) * 64 + k)];
  };
  std::set<std::int64_t> seen;
  int lines = 0;
  for (std::int64_t i = 21; i < 31; ++i) {  // between borders: lines along others do not cross
    for (std::int64_t k = 40; k < 56; ++k) {
      std::vector<std::int64_t> places;
      for (std::int64_t j = 0; j < 100; ++j) {
        if (is_large(at(i, j, k))) places.push_back(j);
      }
      ASSERT_EQ(places.size(), 1U) << i << ' ' << k;
      seen.insert(places.front());
      ++lines;
    }
  }
  const std::vector<std::int64_t> of_extent = borders(100);
  EXPECT_EQ(seen, std::set<std::int64_t>(of_extent.begin(), of_extent.end()));
  EXPECT_EQ(lines, 160);
}

TEST(BorderNeedles, TheOnlyLineHasItsOwnAtTheEnd) {
  for (const Shape& shape : {Shape{1000}, Shape{1, 1000}, Shape{1000, 1}}) {
    std::vector<float> x(1000);
    lay_border_needles<float>(x, shape, 4);
    EXPECT_GE(x.back(), 8);
    EXPECT_EQ(std::ranges::count_if(x, is_large), 1);
    lay_border_needles<float>(x, shape, 5);
    EXPECT_LE(x.back(), -8) << "another seed has another sign";
  }
}

TEST(BorderNeedles, SignsAndNumbersDiffer) {
  std::vector<float> x(500 * 100);
  lay_border_needles<float>(x, Shape{500, 100}, 4);
  std::set<float> different;
  int negative = 0;
  for (const float one : x) {
    if (!is_large(one)) continue;
    different.insert(one);
    negative += one < 0 ? 1 : 0;
  }
  EXPECT_GT(different.size(), 500U);
  EXPECT_GT(negative, 100);
  EXPECT_LT(negative, static_cast<int>(different.size()) - 100);
}

TEST(BorderNeedles, ShortAndEmptyExtentsHaveNone) {
  std::vector<float> x(3 * 17);
  lay_border_needles<float>(x, Shape{3, 1, 17}, 4);
  EXPECT_EQ(std::ranges::count_if(x, is_large), 3) << "along the last extent alone";
  std::vector<float> none;
  lay_border_needles<float>(none, Shape{0, 100}, 4);
  lay_border_needles<float>(none, Shape{100, 0}, 4);
}

}  // namespace
}  // namespace assay::input
