#include "harness/measure/energy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::measure {
namespace {

constexpr double update_s = 0.02;

/// Reads a device of `watts` every millisecond for `seconds`, while launches of `launch_s` run. Its
/// counter lags by up to `update_s`.
Energy of_device(double watts, double seconds, double launch_s, bool has_power = true) {
  EnergySeries series;
  for (int ms = 0; ms <= static_cast<int>(std::lround(seconds * 1000)); ++ms) {
    const double now_s = ms * 1e-3;
    const double updates = std::floor(now_s / update_s + 1e-9);
    DeviceCondition now{.energy_j = 1000 + watts * updates * update_s};
    if (has_power) now.power_w = watts + 1;
    series.add(now_s, static_cast<std::int64_t>(now_s / launch_s + 1e-9), now);
  }
  return series.result();
}

TEST(EnergySeries, ALaunchCostsItsShareOfTheCounter) {
  const Energy energy = of_device(50, 2, 1e-3);
  EXPECT_EQ(energy.problem, "");
  EXPECT_NEAR(energy.launch_j.value_or(0), 0.05, 1e-9);
  EXPECT_NEAR(energy.power_w.value_or(0), 50, 1e-6);
  EXPECT_NEAR(energy.resolution_s.value_or(0), update_s, 1e-9);
  EXPECT_NEAR(energy.launch_by_power_j.value_or(0), 0.051, 1e-9);
  ASSERT_TRUE(energy.launch_ci);
  EXPECT_LE(energy.launch_ci->low, 0.05);
  EXPECT_GE(energy.launch_ci->high, 0.05);
  EXPECT_LT(energy.launch_ci->high - energy.launch_ci->low, 1e-6);
}

TEST(EnergySeries, PowerThatChangesWidensTheInterval) {
  EnergySeries series;
  double joules = 0;
  for (int i = 0; i < 100; ++i) {
    joules += i < 50 ? 1 : 3;
    series.add(i * 0.1, i, {.energy_j = joules});
  }
  const Energy energy = series.result();
  EXPECT_NEAR(energy.launch_j.value_or(0), 2, 0.05);
  ASSERT_TRUE(energy.launch_ci);
  EXPECT_LT(energy.launch_ci->low, 1.5);
  EXPECT_GT(energy.launch_ci->high, 2.5);
}

TEST(EnergySeries, TooFewUpdatesTellNothing) {
  const Energy energy = of_device(50, 0.1, 1e-3);
  EXPECT_FALSE(energy.launch_j);
  EXPECT_EQ(energy.problem, "5 updates of its counter are too few to tell");
  EXPECT_TRUE(energy.launch_by_power_j) << "power has no updates that show";
}

TEST(EnergySeries, LaunchesLongerThanAPartTellNothing) {
  EXPECT_EQ(of_device(50, 0.2, 0.15).problem,
            "a launch takes longer than its counter's updates are apart");
}

TEST(EnergySeries, ACounterThatStandsStillRunsBackwardsOrIsAbsentTellsNothing) {
  EnergySeries still, backwards, absent;
  for (int i = 0; i < 100; ++i) {
    still.add(i * 0.1, i, {.energy_j = 7});
    backwards.add(i * 0.1, i, {.energy_j = i == 50 ? 0 : i});
    absent.add(i * 0.1, i, {});
  }
  EXPECT_EQ(still.result().problem, "0 updates of its counter are too few to tell");
  EXPECT_EQ(backwards.result().problem, "its counter ran backwards");
  EXPECT_EQ(absent.result().problem, "no counter of energy that this process can read");
  for (const EnergySeries* series : {&still, &backwards, &absent}) {
    EXPECT_FALSE(series->result().launch_j);
    EXPECT_FALSE(series->result().launch_by_power_j);
  }
}

TEST(EnergySeries, PowerThatIsNotAlwaysToldIsNotIntegrated) {
  EnergySeries series;
  for (int i = 0; i < 100; ++i) {
    series.add(i * 0.1, i, {.power_w = i == 50 ? std::nullopt : std::optional(10.0)});
  }
  EXPECT_FALSE(series.result().launch_by_power_j);
  EXPECT_FALSE(series.result().power_w);
}

}  // namespace
}  // namespace assay::measure
