// Times that a trial's clock tells, against those that pass.
#include "harness/execute/clock_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/core/clock.h"
#include "kernels/device/forwarding.h"
#include "kernels/sim/backend.h"
#include "tests/unit/timed_case.h"

namespace assay {
namespace {

constexpr const char* id = "tensor_ops/exp/f64/n=3001";

/// A series as the engine takes it.
std::string accused(std::unique_ptr<Backend> backend) {
  TimedCase timed(id, {.own_inputs = false}, std::move(backend));
  const Checks checks;
  ClockCheck clock(timed.trial, checks);
  const auto add = [&](std::int64_t launches) {
    const double begin_s = system_call_s();
    const double reported_s = timed.trial.time_s(launches);
    clock.add(launches, reported_s, system_call_s() - begin_s);
  };
  return wrong_by(
      [&] {
        for (int i = 0; i < 30; ++i) {
          add(0);
          add(300);
        }
        std::ignore = clock.check_series();
      },
      Check::clock);
}

TEST(ClockCheck, PassesAnHonestClock) {
  EXPECT_EQ(accused(cpu::make_backend()), "");
  EXPECT_EQ(accused(sim::make_backend(1)), "");
}

TEST(ClockCheck, AccusesAClockThatIsATenthSlow) {
  const std::string reason =
      accused(sim::make_backend(1, {sim::parse_fault("slow_clock,percent=10")}));
  EXPECT_TRUE(reason.starts_with("its clock tells of ")) << reason;
  EXPECT_NE(reason.find(" launches, during which "), std::string::npos) << reason;
}

class ClockChecks : public testing::Test {
 protected:
  TimedCase timed_{id, {.own_inputs = false}};
  Checks checks_;
  ClockCheck clock_{timed_.trial, checks_, true};
};

TEST_F(ClockChecks, AccuseATimeThatNoClockCanTell) {
  for (const double reported_s :
       {-1e-9, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(wrong_by([&] { clock_.add(1, reported_s, 1e-3); }, Check::clock), "") << reported_s;
    EXPECT_NE(wrong_by([&] { clock_.add(0, reported_s, 1e-3); }, Check::clock), "") << reported_s;
  }
  EXPECT_EQ(wrong_by([&] { clock_.add(3, -1.0, 0.25); }),
            "its clock tells of -1 s for 3 launches: it has gone backwards, or is none");
  EXPECT_EQ(wrong_by([&] { clock_.add(3, 0.5, 0.25); }),
            "its clock tells of 0.5 s for 3 launches, during which only 0.25 s passed");
  const Checks others(Check::clock);
  ClockCheck off(timed_.trial, others);
  EXPECT_EQ(wrong_by([&] { off.add(1, -1.0, 1e-3); }), "");
  EXPECT_EQ(wrong_by([&] { clock_.add(1, 0, 1e-3); }), "") << "too short for the clock";
}

TEST_F(ClockChecks, ExplainWhatReadingTheClockTakes) {
  EXPECT_EQ(clock_.untold_share(), std::nullopt);
  for (int i = 0; i < 10; ++i) {
    clock_.add(0, 0, 1e-4);
    clock_.add(1, 9e-4, 1e-3);
  }
  EXPECT_EQ(wrong_by([&] { std::ignore = clock_.check_series(); }), "");
  EXPECT_NEAR(clock_.untold_share().value(), 0.1, 1e-12);
}

TEST_F(ClockChecks, LookAtLongerSeriesWhereTimeIsMissing) {
  // The real clock of this trial is right, and so are these launches: the series was disturbed.
  // Its launches take microseconds, and less than a second on any machine.
  for (int i = 0; i < 10; ++i) clock_.add(1, 1, 100);
  EXPECT_EQ(wrong_by([&] { std::ignore = clock_.check_series(); }), "");
}

TEST_F(ClockChecks, AccuseSamplesThatTellLessThanLongerSeriesTake) {
  // As of a process that tells honest times once its samples are over.
  for (int i = 0; i < 10; ++i) clock_.add(1, 1e-12, 1e-3);
  EXPECT_NE(wrong_by([&] { std::ignore = clock_.check_series(); }, Check::clock), "");
}

TEST_F(ClockChecks, DoNotHoldABusierTimeThatCameLaterAgainstSamples) {
  // Launches of this trial take far longer than these, of which the fast ones hide nothing.
  for (int i = 0; i < 10; ++i) clock_.add(1, 1e-9, i % 2 == 0 ? 1.05e-9 : 1e-3);
  EXPECT_EQ(wrong_by([&] { std::ignore = clock_.check_series(); }), "");
}

TEST_F(ClockChecks, AskForOtherSamplesOnAMachineThatHasBecomeSlower) {
  // Half of what was seen is told, and launches take far longer than these now.
  for (int i = 0; i < 10; ++i) clock_.add(1, 1e-9, 2e-9);
  EXPECT_EQ(clock_.check_series(ClockCheck::Retakes::left), ClockCheck::Outcome::slower_now);
  EXPECT_NE(wrong_by([&] { std::ignore = clock_.check_series(); }, Check::clock), "");
}

TEST_F(ClockChecks, AskForNoOtherSamplesOfAClockThatHidesTime) {
  // Launches take less than a second on any machine, however the program was built.
  for (int i = 0; i < 10; ++i) clock_.add(1, 1e-12, 1);
  const auto check = [&] { std::ignore = clock_.check_series(ClockCheck::Retakes::left); };
  EXPECT_NE(wrong_by(check, Check::clock), "");
}

TEST_F(ClockChecks, AllowMoreWhereOthersUseTheCores) {
  constexpr auto quiet = [] { return measure::LostTime{.stolen_s = 0}; };
  constexpr auto busy = [] { return measure::LostTime{.stolen_s = 1000 * system_call_s()}; };
  // One thread works all the time, or waits nearly all the time, or there is none.
  constexpr auto working = [](const std::vector<pid_t>&) {
    return std::map<std::string, double>{{"1", system_call_s()}};
  };
  constexpr auto waiting = [](const std::vector<pid_t>&) {
    return std::map<std::string, double>{{"1", system_call_s() / 1e6}};
  };
  constexpr auto none = [](const std::vector<pid_t>&) { return std::map<std::string, double>{}; };
  const auto accused_of = [&](double share, ClockCheck::Cores cores) {
    cores.waited_s = none;
    ClockCheck clock(timed_.trial, checks_, true, cores);
    constexpr int launches = 100;
    double least_s = 1;
    for (int i = 0; i < 50; ++i) least_s = std::min(least_s, timed_.trial.time_s(launches));
    for (int i = 0; i < 10; ++i) {
      clock.begin();
      clock.add(launches, share * least_s, least_s);
    }
    const std::string reason = wrong_by([&] { std::ignore = clock.check_series(); }, Check::clock);
    EXPECT_EQ(clock.allows_for_contention(), reason.empty());
    return reason;
  };
  // A hundredth of the time: the machine's speed may change during the test, but not so much.
  constexpr double reported_share = 0.01;
  // A busy machine may disturb all series: that is another accusation.
  const std::string reason = accused_of(reported_share, {busy, waiting});
  EXPECT_EQ(reason.find("in samples of"), std::string::npos) << reason;
  EXPECT_NE(accused_of(reported_share, {busy, working}), "");
  EXPECT_NE(accused_of(reported_share, {busy, none}), "");
  EXPECT_NE(accused_of(reported_share, {quiet, waiting}), "");
}

TEST_F(ClockChecks, HoldSamplesAgainstTheirOwnWork) {
  // Half of the time is told of each sample, and others use the cores for a while of some. The work
  // of a sample takes 4 ms, and messages no more than 0.2 ms of it.
  static double worked_s;
  static double waited_s;
  static double kernels_waited_s;
  constexpr auto working = [](const std::vector<pid_t>&) {
    return std::map<std::string, double>{{"1", worked_s}};
  };
  constexpr auto waiting = [] { return measure::LostTime{.waited_s = {{"1", waited_s}}}; };
  constexpr auto kernels_waiting = [](const std::vector<pid_t>&) {
    return std::map<std::string, double>{{"2", kernels_waited_s}};
  };
  constexpr double work_s = 4e-3;
  const auto accused_of = [&](double share, double judge_waits_s = 0, double kernels_wait_s = 0) {
    ClockCheck clock(timed_.trial, checks_, true, {waiting, working, kernels_waiting});
    for (int i = 0; i < 20; ++i) {
      clock.begin();
      worked_s += work_s;
      waited_s += judge_waits_s;
      kernels_waited_s += kernels_wait_s;
      const double passed_s = (i % 2 == 0 ? 1 : 4) * work_s;
      clock.add(1, share * passed_s, passed_s + 0.2e-3);
    }
    return wrong_by([&] { std::ignore = clock.check_series(); }, Check::clock);
  };
  const std::string reason = accused_of(0.5);
  EXPECT_TRUE(reason.ends_with("samples of 1 launches, in which 0.076 s of work were done"))
      << reason;
  EXPECT_EQ(accused_of(0.96), "");
  EXPECT_EQ(accused_of(0.5, work_s), "")
      << "threads may have worked on until the judge stopped them";
  // Others took cores from the kernels, and none from the judge.
  EXPECT_NE(accused_of(0.8), "");
  EXPECT_EQ(accused_of(0.8, 0, 1e-3), "");
  EXPECT_NE(accused_of(0.8, 0, 1e-5), "");
  EXPECT_NE(accused_of(0.5, 0, 1), "");
}

/// Says late when its work is over, and much too late three times after long work.
class LateStream final : public ForwardingStream {
 public:
  using ForwardingStream::ForwardingStream;
  double elapsed_s(const Event& start, const Event& stop) override {
    const double reported_s = ForwardingStream::elapsed_s(start, stop);
    constexpr double long_s = 0.04;
    constexpr double message_s = 200e-6;
    // Half of what the check allows in its longest series: the machine may be late, too.
    constexpr double late_s = 0.005;
    std::this_thread::sleep_for(std::chrono::duration<double>(late_-- > 0 ? late_s : message_s));
    if (reported_s > long_s) late_ = 3;
    return reported_s;
  }

 private:
  int late_ = 0;
};

class LateDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::unique_ptr<Stream> create_stream() override {
    return std::make_unique<LateStream>(real().create_stream());
  }
};

TEST(ClockCheck, TakesNoLateMessageForALongSeries) {
  TimedCase timed("tensor_ops/exp/f64/n=3001", {.own_inputs = false},
                  std::make_unique<WrappingBackend>("late", cpu::make_backend(), [](auto real) {
                    return std::make_unique<LateDevice>(std::move(real));
                  }));
  const Checks checks;
  ClockCheck clock(timed.trial, checks, true);
  // A launch takes less than a message: only series of many tell of its time.
  constexpr int many = 3000;
  const double launch_s = timed.trial.time_s(many) / many;
  for (int i = 0; i < 10; ++i) clock.add(1, 2 * launch_s, 20 * launch_s);
  EXPECT_EQ(wrong_by([&] { std::ignore = clock.check_series(); }), "");
}

TEST_F(ClockChecks, ExplainNoMoreThanAMessageTakes) {
  for (int i = 0; i < 10; ++i) {
    clock_.add(0, 0, 0.03);  // answers late where nothing is launched
    clock_.add(1, 1e-12, 0.03);
  }
  EXPECT_NE(wrong_by([&] { std::ignore = clock_.check_series(); }, Check::clock), "");
}

}  // namespace
}  // namespace assay
