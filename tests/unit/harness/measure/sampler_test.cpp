// Stop rule of the sampler, on a clock that the test moves.
#include "harness/measure/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace assay::measure {
namespace {

/// A launch takes the time that `cost_s` gives when it starts.
class FakeMeter final : public Meter {
 public:
  /// `around_s` is the harness's time around a sample.
  explicit FakeMeter(std::function<double(double now_s, std::int64_t call)> cost_s,
                     double around_s = 1e-6)
      : cost_s_(std::move(cost_s)), around_s_(around_s) {}

  double time_s(std::int64_t launches) override {
    if (launches == 0) {
      now_ += around_s_;
      return clock_s_;
    }
    const double seconds = cost_s_(now_, calls_++) * static_cast<double>(launches);
    max_launches_ = std::max(max_launches_, launches);
    now_ += seconds + around_s_;
    return seconds;
  }
  void before_last() override { calls_at_last_ = calls_; }
  double now_s() override { return now_; }
  DeviceCondition condition() override {
    ++condition_reads_;
    return condition_ ? condition_(now_) : DeviceCondition{};
  }
  void set_condition(std::function<DeviceCondition(double now_s)> condition) {
    condition_ = std::move(condition);
  }
  /// Sets the time of a sample without launches. Other samples have it in their cost.
  void set_clock_s(double clock_s) { clock_s_ = clock_s; }
  std::int64_t condition_reads() const { return condition_reads_; }

  std::int64_t calls() const { return calls_; }
  std::int64_t calls_at_last() const { return calls_at_last_; }
  /// Returns the most launches of one call, warm-up included.
  std::int64_t max_launches() const { return max_launches_; }

 private:
  std::function<double(double, std::int64_t)> cost_s_;
  double around_s_;
  double clock_s_ = 0;
  double now_ = 100;
  std::int64_t calls_ = 0;
  std::int64_t calls_at_last_ = -1;
  std::int64_t max_launches_ = 0;
  std::function<DeviceCondition(double)> condition_;
  std::int64_t condition_reads_ = 0;
};

TEST(Sampler, ABlockHasSoManySamplesWhateverTheyShow) {
  FakeMeter wild([](double, std::int64_t call) { return call % 2 == 0 ? 1e-3 : 2e-3; });
  const Measurement m = sample(wild, {.cap_s = 10, .block = 5});
  EXPECT_EQ(m.stop_reason, "block");
  EXPECT_EQ(m.samples.size(), 5U);
  EXPECT_EQ(wild.calls_at_last(), wild.calls() - 1) << "the last one is judged here too";
  FakeMeter slow([](double, std::int64_t) { return 3.0; });
  const Measurement cut = sample(slow, {.cap_s = 10, .block = 5});
  EXPECT_EQ(cut.stop_reason, "time_cap");
  EXPECT_LT(cut.samples.size(), 5U);
}

TEST(Sampler, SteadyWorkConvergesAfterTheMinimumTime) {
  FakeMeter meter([](double, std::int64_t) { return 1e-3; });
  const Measurement m = sample(meter, {.cap_s = 10});
  EXPECT_EQ(m.stop_reason, "converged");
  EXPECT_NEAR(m.launch_s.median, 1e-3, 1e-12);
  EXPECT_GE(m.samples.size(), 300U);
  EXPECT_LT(m.samples.size(), 450U) << "no more than the minimum time and a window asks for";
  ASSERT_TRUE(m.launch_s.interval);
  EXPECT_LE(m.launch_s.interval->low, m.launch_s.median);
  EXPECT_GE(m.launch_s.interval->high, m.launch_s.median);
}

TEST(Sampler, EachSampleHasTheStateInWhichItWasTaken) {
  FakeMeter meter([](double, std::int64_t) { return 1e-3; });
  // Ten milliseconds of throttling amid a steady clock.
  meter.set_condition([](double now_s) {
    const bool slow = now_s > 100.2 && now_s < 100.21;
    return DeviceCondition{.clock_hz = slow ? 1e9 : 2e9, .temperature_c = now_s, .throttled = slow};
  });
  const Measurement m = sample(meter, {.cap_s = 10});
  const auto slow = std::ranges::count(m.samples, std::optional(1e9), &Sample::clock_hz);
  EXPECT_GE(slow, 5);
  EXPECT_LE(slow, 15);
  EXPECT_EQ(std::ranges::count(m.samples, std::optional(true), &Sample::throttled), slow);
  EXPECT_EQ(m.condition.clock_hz, 2e9) << "the median";
  EXPECT_EQ(m.condition.throttled, true) << "if any was";
  EXPECT_EQ(m.condition.temperature_c, meter.now_s()) << "at the end";
  EXPECT_LT(meter.condition_reads(), std::ssize(m.samples) / 5) << "reading takes time itself";
}

TEST(Sampler, WhatCannotBeReadStaysEmpty) {
  FakeMeter meter([](double, std::int64_t) { return 1e-3; });
  const Measurement m = sample(meter, {.cap_s = 10});
  EXPECT_FALSE(m.condition.clock_hz || m.condition.throttled || m.condition.power_w);
  EXPECT_FALSE(m.samples.front().clock_hz || m.samples.front().throttled);
}

TEST(Sampler, ShortLaunchesAreBatchedAndTheTimeIsPerLaunch) {
  FakeMeter meter([](double, std::int64_t) { return 1e-7; });
  const Measurement m = sample(meter, {.cap_s = 10});
  EXPECT_NEAR(m.launch_s.median, 1e-7, 1e-15);
  for (const Sample& s : m.samples) {
    EXPECT_GE(s.seconds, 20e-6);
    EXPECT_EQ(s.launches, m.samples.front().launches);
  }
  EXPECT_LE(m.samples.size(), 1500U) << "a sample lasts longer rather than having more of them";
}

TEST(Sampler, AddsNothingToALaunchHoweverShort) {
  // Powers of two: no sum of them is rounded, so any added time would show.
  for (const double launch_s : {0x1p-30, 0x1p-20, 0x1p-10, 0x1p-4}) {
    for (const double around_s : {1e-6, 1e-3}) {
      for (const std::int64_t most : {1, 7, 1'000'000'000}) {
        FakeMeter meter([=](double, std::int64_t) { return launch_s; }, around_s);
        const Measurement m = sample(meter, {.max_launches = most, .cap_s = 0.5});
        EXPECT_EQ(m.launch_s.min, launch_s) << around_s << " s around " << most;
        EXPECT_EQ(m.launch_s.median, launch_s) << around_s << " s around " << most;
        EXPECT_EQ(m.launch_s.q3, launch_s) << around_s << " s around " << most;
        ASSERT_TRUE(m.launch_s.interval) << around_s << " s around " << most;
        EXPECT_EQ(m.launch_s.interval->high, launch_s) << around_s << " s around " << most;
      }
    }
  }
}

TEST(Sampler, TellsWhatTheHarnessItselfTakes) {
  FakeMeter meter([](double, std::int64_t) { return 0x1p-20; }, 0x1p-18);
  meter.set_clock_s(0x1p-25);
  const Measurement m = sample(meter, {.cap_s = 0.5});
  EXPECT_EQ(m.empty_sample_s, 0x1p-25);
  EXPECT_NEAR(m.between_samples_s, 0x1p-18, 1e-12);
  EXPECT_EQ(m.launches_per_sample, m.samples.front().launches);
}

TEST(Sampler, NoSampleHasMoreLaunchesThanAllowed) {
  // A launch of an in-place op counts only behind a restore: one a sample, however short.
  for (const double launch_s : {1e-3, 1e-7, 0.0}) {
    for (const std::int64_t most : {1, 3}) {
      FakeMeter meter([=](double, std::int64_t) { return launch_s; });
      const Measurement m = sample(meter, {.max_launches = most, .cap_s = 0.5});
      EXPECT_EQ(meter.max_launches(), launch_s == 1e-3 ? 1 : most);
      EXPECT_FALSE(m.samples.empty());
      for (const Sample& s : m.samples) EXPECT_LE(s.launches, most);
    }
  }
}

TEST(Sampler, ADriftNeverConverges) {
  // 1% slower every 20 ms: no three windows agree.
  FakeMeter meter([](double now_s, std::int64_t) { return 1e-3 * (1 + 0.5 * (now_s - 100)); });
  const Measurement m = sample(meter, {.cap_s = 3});
  EXPECT_EQ(m.stop_reason, "time_cap");
}

TEST(Sampler, WideNoiseRunsToTheCap) {
  FakeMeter meter([](double, std::int64_t call) { return call % 2 == 0 ? 1e-3 : 2e-3; });
  const Measurement m = sample(meter, {.cap_s = 2});
  EXPECT_EQ(m.stop_reason, "time_cap");
  EXPECT_GT(m.launch_s.q3, m.launch_s.q1);
}

TEST(Sampler, DependentSamplesInFewWindowsClaimNothingNarrowerThanTheirRange) {
  FakeMeter meter(
      [](double now_s, std::int64_t) { return 1e-3 * (1 + 0.004 * std::sin(40 * now_s)); });
  const Measurement m = sample(meter, {.cap_s = 0.45});
  ASSERT_TRUE(m.launch_s.interval);
  EXPECT_EQ(m.launch_s.interval->low, m.launch_s.min);
  EXPECT_GT(m.launch_s.interval->high, 1.0039e-3);
}

TEST(Sampler, WarmUpIsNotMeasured) {
  FakeMeter meter([](double now_s, std::int64_t) { return now_s < 100.2 ? 5e-3 : 1e-3; });
  const Measurement m = sample(meter, {.cap_s = 10});
  EXPECT_NEAR(m.launch_s.median, 1e-3, 1e-12);
}

TEST(Sampler, ALaunchLongerThanTheCapIsStillMeasured) {
  FakeMeter meter([](double, std::int64_t) { return 100.0; });
  const Measurement m = sample(meter, {.cap_s = 1});
  EXPECT_EQ(m.stop_reason, "time_cap");
  EXPECT_GE(m.samples.size(), 1U);
  EXPECT_LE(meter.calls(), 4) << "warm-up, sample, last sample: each as short as can be";
  EXPECT_FALSE(m.launch_s.interval) << "two samples";
}

TEST(Sampler, AClockTooCoarseForTheWorkEndsToo) {
  FakeMeter meter([](double, std::int64_t) { return 0.0; });
  const Measurement m = sample(meter, {.cap_s = 0.5});
  EXPECT_FALSE(m.samples.empty());
  EXPECT_EQ(m.launch_s.median, 0);
}

TEST(Sampler, TheLastSampleIsAnnouncedAndCounts) {
  FakeMeter meter([](double, std::int64_t) { return 1e-3; });
  const Measurement m = sample(meter, {.cap_s = 10});
  EXPECT_EQ(meter.calls_at_last(), meter.calls() - 1) << "announced right before the last call";
  EXPECT_EQ(m.samples.size(), static_cast<std::size_t>(meter.calls()) - 10) << "two warm-up blocks";
}

}  // namespace
}  // namespace assay::measure
