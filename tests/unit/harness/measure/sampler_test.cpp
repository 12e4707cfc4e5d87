// Stop rule of the sampler, on a clock that the test moves.
#include "harness/measure/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>

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
  /// Returns the most launches of one call, warm-up included.
  std::int64_t max_launches() const { return max_launches_; }

 private:
  std::function<double(double, std::int64_t)> cost_s_;
  double around_s_;
  double clock_s_ = 0;
  double now_ = 100;
  std::int64_t calls_ = 0;
  std::int64_t max_launches_ = 0;
  std::function<DeviceCondition(double)> condition_;
  std::int64_t condition_reads_ = 0;
};

TEST(Sampler, ABlockHasSoManySamplesWhateverTheyShow) {
  FakeMeter wild([](double, std::int64_t call) { return call % 2 == 0 ? 1e-3 : 2e-3; });
  const Measurement m = sample(wild, {.cap_s = 10, .block = 5});
  EXPECT_EQ(m.stop_reason, "block");
  EXPECT_EQ(m.samples.size(), 5U);
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

// As a GPU's kernels of others: the first launches load code, and each sample has new inputs.
TEST(Sampler, SlowFirstLaunchesDoNotMakeSamplesShort) {
  FakeMeter meter([](double, std::int64_t call) { return call < 5 ? 4e-4 : 1e-4; }, 0.2);
  const Measurement m = sample(meter, {.sample_s = 1e-3, .turns = 3, .cap_s = 3.9});
  EXPECT_EQ(m.stop_reason, "time_cap");
  EXPECT_FALSE(m.samples.empty());
  for (const Sample& s : m.samples) EXPECT_GE(s.seconds, 1e-3);
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

/// Share of the intervals that contain the true median, 1 ms, of 300 samples of noise in which each
/// deviation keeps `memory` of the one before.
double coverage(double memory) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  constexpr int series = 300;
  int covered = 0;
  for (int i = 0; i < series; ++i) {
    double deviation = normal(random);
    FakeMeter meter([&](double, std::int64_t) {
      deviation = memory * deviation + std::sqrt(1 - memory * memory) * normal(random);
      return 1e-3 * std::exp(0.05 * deviation);
    });
    const Measurement m = sample(meter, {.half_width = 0, .cap_s = 0.4});
    covered += m.launch_s.interval->low <= 1e-3 && 1e-3 <= m.launch_s.interval->high ? 1 : 0;
  }
  return static_cast<double>(covered) / series;
}

TEST(Sampler, IntervalsHoldAlsoWhereSamplesDependOnEachOther) {
  EXPECT_GE(coverage(0), 0.93);
  EXPECT_GE(coverage(0.5), 0.93);
  EXPECT_GE(coverage(0.9), 0.93);
}

/// Work and a yardstick that a disturbance slows alike.
class DisturbedMeter final : public Meter {
 public:
  DisturbedMeter(double launch_s, std::optional<double> yardstick_s)
      : launch_s_(launch_s), own_s_(yardstick_s) {}
  double time_s(std::int64_t launches) override {
    return pass(launch_s_ * static_cast<double>(launches));
  }
  std::optional<double> yardstick_s() override {
    if (!own_s_) return std::nullopt;
    const double seconds = pass(*own_s_);
    yardsticks_s_ += seconds;
    return seconds;
  }
  double now_s() override { return now_; }
  double yardsticks_s() const { return yardsticks_s_; }
  double passed_s() const { return now_ - 100; }

 private:
  double pass(double quiet_s) {
    const double seconds = quiet_s * (1 + 0.5 * std::sin(20 * now_));
    now_ += seconds;
    return seconds;
  }
  double launch_s_;
  std::optional<double> own_s_;
  double now_ = 100;
  double yardsticks_s_ = 0;
};

TEST(Sampler, ARatioToTheYardstickStandsWhereBothAreDisturbed) {
  DisturbedMeter meter(1e-3, 2e-3);
  const Measurement m = sample(meter, {.cap_s = 1});
  ASSERT_TRUE(m.yardstick && m.yardstick->per_launch.interval);
  EXPECT_GE(m.yardstick->turns, 100);
  EXPECT_NEAR(m.yardstick->per_launch.median, 2, 0.05);
  EXPECT_GT(m.yardstick->per_launch.interval->low, 1.9);
  EXPECT_LT(m.yardstick->per_launch.interval->high, 2.1);
  EXPECT_GT(m.launch_s.q3, 1.3 * m.launch_s.q1) << "the times themselves are not";
  EXPECT_LT(meter.yardsticks_s(), 0.6 * meter.passed_s()) << "half of the time";
  EXPECT_LT(m.between_samples_s, 1e-9) << "the yardstick's time is not the harness's";
}

TEST(Sampler, ADisturbanceOfAFewTurnsMovesNoRatio) {
  // One launch in five takes three times as long, whichever it is.
  class RandomMeter final : public Meter {
   public:
    double time_s(std::int64_t launches) override {
      double seconds = 0;
      for (std::int64_t i = 0; i < launches; ++i) seconds += pass(1e-3);
      return seconds;
    }
    std::optional<double> yardstick_s() override {
      double seconds = 0;  // as many stretches as the turn beside it has
      for (int i = 0; i < 10; ++i) seconds += pass(1e-3);
      return seconds;
    }
    double now_s() override { return now_; }

   private:
    double pass(double quiet_s) {
      const double seconds = random_() % 5 == 0 ? 3 * quiet_s : quiet_s;
      now_ += seconds;
      return seconds;
    }
    std::mt19937 random_{1};
    double now_ = 100;
  };
  RandomMeter meter;
  const Measurement m = sample(meter, {.cap_s = 2});
  EXPECT_NEAR(m.yardstick->per_launch.median, 10, 0.8);
  EXPECT_LT(m.yardstick->per_launch.interval->low, 10);
  EXPECT_GT(m.yardstick->per_launch.interval->high, 10);
}

TEST(Sampler, FewTurnsHaveNoInterval) {
  DisturbedMeter meter(1e-3, 0.2);
  const Measurement m = sample(meter, {.cap_s = 1});
  ASSERT_TRUE(m.yardstick);
  EXPECT_LT(m.yardstick->turns, 6);
  EXPECT_FALSE(m.yardstick->per_launch.interval);
  DisturbedMeter alone(1e-3, std::nullopt);
  EXPECT_FALSE(sample(alone, {.cap_s = 1}).yardstick);
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

TEST(Sampler, JudgingBetweenSamplesLeavesEnoughForAnInterval) {
  const auto millisecond = [](double, std::int64_t) { return 1e-3; };
  FakeMeter judged(millisecond, 0.2);
  const Measurement m = sample(judged, {.sample_s = 1e-3, .cap_s = 1});
  EXPECT_EQ(m.stop_reason, "time_cap");
  EXPECT_EQ(m.samples.size(), 6U);
  EXPECT_TRUE(m.launch_s.interval);
  FakeMeter long_judged(millisecond, 1);
  const double begin_s = long_judged.now_s();
  EXPECT_EQ(sample(long_judged, {.sample_s = 1e-3, .cap_s = 1}).stop_reason, "time_cap");
  EXPECT_LT(long_judged.now_s() - begin_s, 11 + 4 + 2) << "eleven readings of the clock, four caps";
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
  EXPECT_EQ(m.samples.size(), static_cast<std::size_t>(meter.calls()) - 10) << "two warm-up blocks";
}

}  // namespace
}  // namespace assay::measure
