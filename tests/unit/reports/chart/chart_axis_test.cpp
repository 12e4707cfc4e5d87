#include "reports/chart/chart_axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace assay {
namespace {

using Labels = std::vector<std::string>;

TEST(ChartAxis, HasRoundNumbers) {
  const ChartAxis axis = chart_axis(1.0, 1.1, 5, "");
  EXPECT_EQ(axis.labels, (Labels{"1.00", "1.05", "1.10"}));
  EXPECT_EQ(axis.unit, "");
}

TEST(ChartAxis, TakesThePrefixThatSuits) {
  const ChartAxis axis = chart_axis(0.0012, 0.0018, 5, "s");
  EXPECT_EQ(axis.unit, "ms");
  EXPECT_EQ(axis.labels, (Labels{"1.2", "1.4", "1.6", "1.8"}));
  EXPECT_EQ(chart_axis(2e-6, 3e-6, 5, "s").unit, "µs");
  EXPECT_EQ(chart_axis(2, 3, 5, "s").unit, "s");
  EXPECT_EQ(chart_axis(2e9, 3e9, 5, "B/s").unit, "GB/s");
}

TEST(ChartAxis, ZeroHasNoSign) { EXPECT_EQ(chart_axis(0, 20, 5, "").labels.front(), "0"); }

TEST(ChartAxis, HoldsItsValues) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{1, 1},
                                                                        {1e-9, 1e-9},
                                                                        {0, 0},
                                                                        {0.999, 1.001},
                                                                        {1, 1000},
                                                                        {-5, 5},
                                                                        {1e-3, 1.0000001e-3}}) {
    const ChartAxis axis = chart_axis(low, high, 5, "s");
    EXPECT_LT(axis.low, low);
    EXPECT_GT(axis.high, high);
    EXPECT_GE(axis.ticks.size(), 2U) << low << " to " << high;
    EXPECT_LE(axis.ticks.size(), 7U) << low << " to " << high;
    const std::set<std::string> different(axis.labels.begin(), axis.labels.end());
    EXPECT_EQ(different.size(), axis.ticks.size()) << low << " to " << high;
    for (const double tick : axis.ticks) {
      EXPECT_GE(axis.position(tick), 0);
      EXPECT_LE(axis.position(tick), 1);
    }
  }
}

TEST(ChartAxis, FromZeroHoldsItsHighest) {
  const ChartAxis axis = axis_from_zero(42e9, 5, "B/s");
  EXPECT_EQ(axis.low, 0);
  EXPECT_GT(axis.high, 42e9);
  EXPECT_EQ(axis.unit, "GB/s");
  EXPECT_EQ(axis.labels, (Labels{"0", "10", "20", "30", "40"}));
}

TEST(ChartAxis, LogarithmicHasPowersOfTen) {
  const ChartAxis axis = logarithmic_axis(2e3, 3e8, 7, "B");
  EXPECT_EQ(axis.labels, (Labels{"10k", "100k", "1M", "10M", "100M"}));
  EXPECT_EQ(axis.unit, "B");
  EXPECT_NEAR(axis.position(std::sqrt(axis.low * axis.high)), 0.5, 1e-12);
  EXPECT_LT(axis.position(1e4), axis.position(1e6));
  EXPECT_EQ(logarithmic_axis(0.4, 3, 7, "").labels, (Labels{"0.5", "1", "2"}));
}

TEST(ChartAxis, LogarithmicHoldsItsValuesAndSomeTicks) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{
           {1, 1}, {2.4, 4}, {3.2, 4.5}, {1e-9, 1e12}, {0.9999, 1.0001}, {7e8, 7.1e8}}) {
    const ChartAxis axis = logarithmic_axis(low, high, 6, "B");
    EXPECT_LT(axis.position(low), 1);
    EXPECT_GT(axis.position(low), 0);
    EXPECT_LT(axis.position(high), 1);
    EXPECT_GE(axis.ticks.size(), 2U) << low << " to " << high;
    EXPECT_LE(axis.ticks.size(), 8U) << low << " to " << high;
    const std::set<std::string> different(axis.labels.begin(), axis.labels.end());
    EXPECT_EQ(different.size(), axis.ticks.size()) << low << " to " << high;
    for (const double tick : axis.ticks) {
      EXPECT_GE(axis.position(tick), 0);
      EXPECT_LE(axis.position(tick), 1);
    }
  }
}

}  // namespace
}  // namespace assay
