// Data of which each line has its own place in the range of its dtype.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>
#include <vector>

#include "harness/input/near_ties.h"
#include "harness/input/scattered.h"

namespace assay::input {
namespace {

template <class T>
DType dtype_of() {
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::bf16;
  return DType::f16;
}

template <class T>
class OrderedTypes : public testing::Test {};
using Types =
    testing::Types<double, float, BFloat16, Float16, std::int64_t, std::int32_t, std::uint8_t>;
TYPED_TEST_SUITE(OrderedTypes, Types);

TYPED_TEST(OrderedTypes, RanksFollowTheOrderAndComeBack) {
  using R = Ranks<TypeParam>;
  const auto value = [](std::int64_t rank) { return widen(R::number(rank)); };
  if constexpr (!std::is_integral_v<TypeParam>) {
    EXPECT_TRUE(std::isinf(value(R::greatest() + 1)));
    EXPECT_TRUE(std::isfinite(value(R::greatest())));
    EXPECT_TRUE(std::isinf(value(R::lowest() - 1)));
    EXPECT_TRUE(std::isfinite(value(R::lowest())));
  } else {
    EXPECT_EQ(R::number(R::lowest()), std::numeric_limits<TypeParam>::lowest());
    EXPECT_EQ(R::number(R::greatest()), std::numeric_limits<TypeParam>::max());
  }
  for (const std::int64_t rank :
       {R::lowest(), R::greatest() - 1, R::lowest() / 3, R::greatest() / 5}) {
    EXPECT_EQ(R::of(R::number(rank)), rank);
    EXPECT_LE(value(rank), value(rank + 1));
  }
}

TYPED_TEST(OrderedTypes, NearTiesAreWithinAFewStepsOfTheirLines) {
  using R = Ranks<TypeParam>;
  constexpr std::int64_t line = 40;
  const NearTies<TypeParam> draw(line, 0, 7);
  std::set<std::int64_t> all;
  for (std::int64_t of = 0; of < 10; ++of) {
    std::set<std::int64_t> ranks;
    for (std::int64_t i = of * line; i < (of + 1) * line; ++i) {
      ranks.insert(R::of(draw(mix(static_cast<std::uint64_t>(i)), i)));
    }
    EXPECT_LE(*ranks.rbegin() - *ranks.begin(), 16) << "line " << of;
    EXPECT_GT(ranks.size(), 5U) << "line " << of;
    all.merge(ranks);
  }
  EXPECT_EQ(*all.begin(), R::lowest());
  EXPECT_EQ(*all.rbegin(), R::greatest());
}

TYPED_TEST(OrderedTypes, NearTiesHaveOneGreatestAndOneLeastInHalfOfTheLines) {
  using R = Ranks<TypeParam>;
  constexpr std::int64_t line = 200;
  constexpr std::int64_t lines = 100;
  const NearTies<TypeParam> draw(line, 0, 7);
  int lone = 0;
  std::set<std::int64_t> places;
  for (std::int64_t of = 0; of < lines; ++of) {
    std::vector<std::int64_t> ranks;
    for (std::int64_t i = of * line; i < (of + 1) * line; ++i) {
      ranks.push_back(R::of(draw(mix(static_cast<std::uint64_t>(i)), i)));
    }
    const auto greatest = std::ranges::max_element(ranks);
    if (std::ranges::count(ranks, *greatest) > 1) continue;
    EXPECT_EQ(std::ranges::count(ranks, *std::ranges::min_element(ranks)), 1) << "line " << of;
    ++lone;
    places.insert((greatest - ranks.begin()) / 50);
  }
  EXPECT_GT(lone, 30);
  EXPECT_LT(lone, 70);
  EXPECT_EQ(places.size(), 4U) << "a quarter of a line has none";
}

TEST(NearTies, DifferInTheByteOfTheirRound) {
  for (std::int64_t byte = 0; byte < 8; ++byte) {
    const NearTies<std::int64_t> draw(1000, byte * near_tie_places + 4, 7);
    const auto shift = static_cast<unsigned>(8 * byte);
    std::set<std::uint64_t> high;
    std::set<std::uint64_t> low;
    for (std::int64_t i = 0; i < 1000; ++i) {
      const auto word = static_cast<std::uint64_t>(draw(mix(static_cast<std::uint64_t>(i)), i));
      low.insert(word & ((std::uint64_t{1} << shift) - 1));
      high.insert(word >> shift);
    }
    EXPECT_EQ(low.size(), 1U) << byte;
    EXPECT_EQ(high.size(), 17U) << byte;
  }
}

TEST(NearTies, CrossWhereTheLowerHalfBeginsAnew) {
  const NearTies<std::int64_t> draw(40, 3, 7);
  std::set<bool> below;
  for (std::int64_t i = 0; i < 40; ++i) {
    const auto low = static_cast<std::uint32_t>(draw(mix(static_cast<std::uint64_t>(i)), i));
    below.insert(low < 0x80000000U);
  }
  EXPECT_EQ(below.size(), 2U) << "as words with a sign they are in another order";
}

template <class T>
class Floats : public testing::Test {};
using FloatTypes = testing::Types<double, float, BFloat16, Float16>;
TYPED_TEST_SUITE(Floats, FloatTypes);

TYPED_TEST(Floats, AreScatteredBelowALargestOfEachLine) {
  const DType dtype = dtype_of<TypeParam>();
  constexpr std::int64_t line = 64;
  const Scattered<TypeParam> draw(dtype, line, 0, 7);
  std::vector<double> largest;
  for (std::int64_t of = 0; of < 400; ++of) {
    double most = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = of * line; i < (of + 1) * line; ++i) {
      const double size = std::abs(widen(draw(mix(static_cast<std::uint64_t>(i)), i)));
      most = std::max(most, size);
      if (size > 0) least = std::min(least, size);
    }
    EXPECT_LT(std::ilogb(most * line), largest_exponent(dtype) + 1);
    EXPECT_LT(least, most / 256) << "line " << of;
    largest.push_back(most);
  }
  const auto share = [&](double low, double high) {
    return std::ranges::count_if(largest, [&](double x) { return low <= x && x < high; });
  };
  const int smallest = smallest_exponent(dtype);  // rounding may lead to the next exponent
  const int great = largest_exponent(dtype) / 2 - 8;
  EXPECT_GT(share(0, std::ldexp(1.0, smallest / 2 + 1)), 80) << "squares vanish";
  constexpr int room = 7;  // bits of the elements of a line
  for (std::size_t of = 0; of < largest.size(); ++of) {
    const int exponent = std::ilogb(largest[of]);
    const int lowest = std::min(0, smallest + room);
    switch (static_cast<std::int64_t>(of) % scattered_places) {
      case 1:
        EXPECT_LE(exponent, std::max(smallest / 2, lowest) + 1) << of;
        break;
      case 4:
        EXPECT_GE(exponent, largest_exponent(dtype) - room - 12) << of;
        break;
      case 5:
        EXPECT_LE(exponent, lowest + 1) << of;
        break;
      default:
        break;
    }
  }
  EXPECT_GT(share(std::ldexp(1.0, great), std::numeric_limits<double>::infinity()), 100);
  EXPECT_GT(share(std::ldexp(1.0, smallest / 2), 2), 60);
}

}  // namespace
}  // namespace assay::input
