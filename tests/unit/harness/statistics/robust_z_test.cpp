#include "harness/statistics/robust_z.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "harness/statistics/holm.h"

namespace assay::statistics {
namespace {

TEST(RobustZ, MeasuresFromTheMedianInSpreads) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1000};
  const Centre centre = robust_centre(values);
  EXPECT_EQ(centre.median, 6);
  EXPECT_NEAR(centre.spread, 1.4826022185 * 3 * 11 / 10.2, 1e-9);
  EXPECT_NEAR(robust_z(values).back(), 994 / centre.spread, 1e-9);
  EXPECT_NEAR(robust_z(values).front(), -5 / centre.spread, 1e-9);
}

TEST(RobustZ, IsInfiniteWhereAllOthersAgree) {
  const std::vector<double> z = robust_z(std::vector<double>{2, 2, 2, 2, 3});
  EXPECT_EQ(z.front(), 0);
  EXPECT_TRUE(std::isinf(z.back()));
  EXPECT_EQ(robust_z_p(z.back(), 5), 0);
  EXPECT_EQ(robust_z_p(0, 5), 1);
}

/// Returns the share of sets of normal values in which any seems to be an outlier at 5% after Holm.
double false_alarms(std::size_t count, int sets) {
  std::mt19937_64 random(count);
  std::normal_distribution<double> normal;
  int alarms = 0;
  for (int set = 0; set < sets; ++set) {
    std::vector<double> values(count);
    std::ranges::generate(values, [&] { return normal(random); });
    const std::vector<double> z = robust_z(values);
    const double farthest = std::ranges::max(z, {}, [](double one) { return std::abs(one); });
    // Holm's least p.
    const double p = static_cast<double>(count) * robust_z_p(farthest, count);
    alarms += p <= 0.05 ? 1 : 0;
  }
  return static_cast<double>(alarms) / sets;
}

TEST(RobustZ, RaisesFewFalseAlarmsInSetsOfAnySize) {
  for (const std::size_t count : {5U, 6U, 8U, 12U, 16U, 32U, 100U, 1000U}) {
    const double rate = false_alarms(count, 2000);
    EXPECT_LE(rate, 0.06) << count;
    RecordProperty(fmt::format("{}", count), fmt::format("{}", rate));
  }
}

TEST(RobustZ, FindsAnOutlierAmongEight) {
  std::vector<double> values{0.1, -0.2, 0.05, 0.15, -0.1, 0, -0.05, 8};
  const std::vector<double> z = robust_z(values);
  std::vector<double> p;
  for (const double one : z) p.push_back(robust_z_p(one, z.size()));
  const std::vector<double> adjusted = holm(p);
  EXPECT_LE(adjusted.back(), 0.05);
  EXPECT_GT(*std::min_element(adjusted.begin(), adjusted.end() - 1), 0.5);
}

}  // namespace
}  // namespace assay::statistics
