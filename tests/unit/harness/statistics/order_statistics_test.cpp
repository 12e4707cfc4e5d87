#include "harness/statistics/order_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace assay::statistics {
namespace {

// Conover, "Practical Nonparametric Statistics": 95% intervals of the median by order statistics,
// ranks counted from 1.
TEST(Statistics, TheMediansIntervalHasThePublishedRanks) {
  const auto expect = [](std::size_t n, std::size_t low, std::size_t high) {
    const Ranks ranks = median_interval_ranks(n).value();
    EXPECT_EQ(ranks.low + 1, low) << n;
    EXPECT_EQ(ranks.high + 1, high) << n;
  };
  expect(6, 1, 6);
  expect(8, 1, 8);
  expect(9, 2, 8);
  expect(10, 2, 9);
  expect(15, 4, 12);
  expect(20, 6, 15);
  expect(25, 8, 18);
  expect(100, 40, 61);
}

TEST(Statistics, TheRanksCoverAtLeast95PercentByTheBinomialSum) {
  for (std::size_t n = 6; n <= 200; ++n) {
    const Ranks ranks = median_interval_ranks(n).value();
    double covered = 0;  // P(low < number below the median <= high), ranks from 1
    for (std::size_t k = ranks.low + 1; k <= ranks.high; ++k) {
      const auto size = static_cast<double>(n);
      const auto count = static_cast<double>(k);
      covered += std::exp(std::lgamma(size + 1) - std::lgamma(count + 1) -
                          std::lgamma(size - count + 1) - size * std::log(2.0));
    }
    EXPECT_GE(covered, 0.95) << n;
    EXPECT_EQ(ranks.low + ranks.high, n - 1) << "symmetric";
  }
}

TEST(Statistics, TooFewValuesHaveNoIntervalOf95Percent) {
  for (std::size_t n = 0; n <= 20; ++n) {
    const bool is_enough = 2 * std::pow(0.5, n) <= 0.05;
    EXPECT_EQ(median_interval_ranks(n).has_value(), is_enough) << n;
    EXPECT_EQ(n >= min_for_interval, is_enough) << n;
  }
  EXPECT_FALSE(summarize({0.395e-3, 83.98e-3}).interval);
  EXPECT_FALSE(summarize({5, 1, 4, 2, 3}).interval);
  const auto of_six = summarize({6, 5, 1, 4, 2, 3}).interval;
  ASSERT_TRUE(of_six);
  EXPECT_EQ(of_six->low, 1);
  EXPECT_EQ(of_six->high, 6);
}

TEST(Statistics, SummaryOfAKnownSet) {
  const Summary s = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.q1, 2);
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.q3, 4);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_THROW(summarize({}), std::invalid_argument);
  EXPECT_THROW(median({}), std::invalid_argument);
}

TEST(Statistics, AutocorrelationTellsAlternationFromARamp) {
  std::vector<double> alternating, ramp;
  for (int i = 0; i < 100; ++i) {
    alternating.push_back(i % 2);
    ramp.push_back(i);
  }
  EXPECT_LT(lag1_autocorrelation(alternating), -0.9);
  EXPECT_GT(lag1_autocorrelation(ramp), 0.9);
  EXPECT_EQ(lag1_autocorrelation(std::vector<double>(10, 3.0)), 0);
}

}  // namespace
}  // namespace assay::statistics
