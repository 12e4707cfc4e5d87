// Order of the calls of a timed launch on a device that can hold work back, flush its caches and
// launch many times at once, and the calls that the time contains.
#include <gtest/gtest.h>

#include <string>

#include "harness/execute/trial.h"
#include "kernels/core/status.h"
#include "kernels/device/forwarding.h"
#include "tests/unit/engine_support.h"
#include "tests/unit/noting_device.h"

namespace assay {
namespace {

const std::string both_ways =
    "transfers/device_memcpy/u8/from=pinned,to=device,bytes=4,by=engine,ways=both";

class TrialTiming : public testing::Test {
 protected:
  /// Returns the calls that the device received for `launches` timed launches.
  std::string heard(std::int64_t launches, bool cold = false,
                    const std::string& id = "tensor_ops/neg/f32/n=4") {
    const auto backend = cpu::make_backend();
    NotingDevice device(backend->open(0), notes_);
    Device* lane[] = {&device};
    Trial trial(parse_case_id(id).op, *backend, lane);
    notes_.text.clear();
    trial.time_s(launches, cold);
    launched_by_ = trial.launched_by();
    return notes_.text;
  }

  Notes notes_{.can_block = true};
  std::string launched_by_;
};

TEST_F(TrialTiming, WhatIsTimedIsEnqueuedOnABlockedStream) {
  EXPECT_EQ(heard(2), "block record launch launch record unblock");
  EXPECT_EQ(launched_by_, "loop");
}

TEST_F(TrialTiming, CachesAreFlushedBeforeTheClockStarts) {
  EXPECT_EQ(heard(1, true), "flush block record launch record unblock");
}

TEST_F(TrialTiming, ManyLaunchesAreOneGraphWhereThereAreGraphs) {
  notes_.has_graphs = true;
  EXPECT_EQ(heard(1000), "block record graph1000 record unblock");
  EXPECT_EQ(launched_by_, "graph");
  EXPECT_EQ(heard(1), "block record launch record unblock") << "one needs none";
  EXPECT_EQ(launched_by_, "loop");
}

TEST_F(TrialTiming, BothWaysAreGraphsToo) {
  notes_.has_graphs = true;
  EXPECT_EQ(heard(1000, false, both_ways),
            "block block record record graph1000x2 record record unblock unblock");
  EXPECT_EQ(launched_by_, "graph");
}

TEST_F(TrialTiming, MoreThanAQueueMayTakeAreHeldInParts) {
  std::string launches;
  for (int i = 0; i < 32; ++i) launches += "launch ";
  EXPECT_EQ(heard(33),
            "block record " + launches + "record unblock block record launch record unblock");
}

TEST_F(TrialTiming, WhatNothingHoldsIsLaunchedAtOnce) {
  notes_.can_block = false;
  const std::string text = heard(33);
  EXPECT_EQ(text.find("record launch"), 0U);
  EXPECT_EQ(text.rfind("record launch"), 0U) << "one part";
}

TEST_F(TrialTiming, NothingIsHeldThatCouldWaitForWhatIsHeld) {
  notes_.may_wait = true;
  EXPECT_EQ(heard(1), "record launch record");
}

TEST_F(TrialTiming, OfSeveralStreamsAllAreHeldOrNone) {
  notes_.blocks_left = 1;
  EXPECT_EQ(heard(1, false, both_ways), "block unblock record record launch launch record record");
}

TEST_F(TrialTiming, AFlushThatNothingStandsBehindHasEndedBeforeTheClockStarts) {
  notes_.may_wait = true;
  EXPECT_EQ(heard(1, true), "flush wait record launch record");
}

TEST_F(TrialTiming, ADeviceThatHoldsNothingIsNotReleased) {
  notes_.can_block = false;
  EXPECT_EQ(heard(1), "record launch record");
}

TEST_F(TrialTiming, BothWaysBeginTogether) {
  EXPECT_EQ(heard(1, false, both_ways),
            "block block record record launch launch record record unblock unblock");
  EXPECT_EQ(heard(1, true, both_ways),
            "flush flush block block record record launch launch record record unblock unblock")
      << "no flush behind a block";
}

TEST_F(TrialTiming, CachesOfADeviceThatExecutesNothingAreFlushedFirst) {
  const auto backend = cpu::make_backend();
  Notes target;
  NotingDevice from(backend->open(0), notes_), to(backend->open(0), target);
  Device* lane[] = {&from, &to};
  Trial trial(parse_case_id("transfers/peer_memcpy/u8/bytes=4,by=engine,access=direct").op,
              *backend, lane);
  trial.time_s(1, false);
  EXPECT_EQ(target.text, "");
  notes_.text.clear();
  trial.time_s(1, true);
  EXPECT_EQ(target.text, "flush wait");
  EXPECT_EQ(notes_.text, "flush block record launch record unblock");
}

TEST_F(TrialTiming, AnErrorLetsGoOfWhatWasHeld) {
  notes_.refuses = true;
  EXPECT_THROW(heard(1), DeviceError);
  EXPECT_EQ(notes_.text, "block record unblock");
}

// --- A device whose clock moves by a known time at each launch, and far at other calls -----------

constexpr double launch_s = 0x1p-20;  // no sum of these is rounded
constexpr double all_else_s = 1;

struct Reading final : Event {
  double at_s = 0;
};

class ClockedKernel final : public Kernel {
 public:
  ClockedKernel(std::unique_ptr<Kernel> real, double& now_s)
      : real_(std::move(real)), now_s_(now_s) {}
  void launch() override {
    real_->launch();
    now_s_ += launch_s;
  }
  std::string implementation() const override { return real_->implementation(); }

 private:
  std::unique_ptr<Kernel> real_;
  double& now_s_;
};

class ClockedStream final : public ForwardingStream {
 public:
  ClockedStream(std::unique_ptr<Stream> real, double& now_s)
      : ForwardingStream(std::move(real)), now_s_(now_s) {}
  std::unique_ptr<Event> create_event() override {
    now_s_ += all_else_s;
    return std::make_unique<Reading>();
  }
  void record(Event& event) override { static_cast<Reading&>(event).at_s = now_s_; }
  double elapsed_s(const Event& start, const Event& stop) override {
    const double seconds =
        static_cast<const Reading&>(stop).at_s - static_cast<const Reading&>(start).at_s;
    now_s_ += all_else_s;
    return seconds;
  }
  void synchronize() override { now_s_ += all_else_s; }
  void flush_caches() override { now_s_ += all_else_s; }

 private:
  double& now_s_;
};

class ClockedDevice final : public ForwardingDevice {
 public:
  ClockedDevice(std::unique_ptr<Device> real, double& now_s)
      : ForwardingDevice(std::move(real)), now_s_(now_s) {}
  void upload(void* to, const void* from, std::size_t n) override {
    now_s_ += all_else_s;
    ForwardingDevice::upload(to, from, n);
  }
  void download(void* to, const void* from, std::size_t n) override {
    now_s_ += all_else_s;
    ForwardingDevice::download(to, from, n);
  }
  void fill(void* to, std::byte value, std::size_t n) override {
    now_s_ += all_else_s;
    ForwardingDevice::fill(to, value, n);
  }
  DeviceCondition condition() const override {
    now_s_ += all_else_s;
    return {};
  }
  std::unique_ptr<Stream> create_stream() override {
    return std::make_unique<ClockedStream>(ForwardingDevice::create_stream(), now_s_);
  }
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    return std::make_unique<ClockedKernel>(ForwardingDevice::prepare(op, binding), now_s_);
  }

 private:
  double& now_s_;
};

TEST(TrialTime, OfAnyNumberOfLaunchesIsTheirsAlone) {
  double now_s = 0;
  const auto backend = cpu::make_backend();
  ClockedDevice device(backend->open(0), now_s);
  Device* lane[] = {&device};
  Trial trial(parse_case_id("tensor_ops/neg/f32/n=4").op, *backend, lane);
  for (const bool cold : {false, true}) {
    for (const std::int64_t launches : {1, 2, 33, 1000}) {
      EXPECT_EQ(trial.time_s(launches, cold), static_cast<double>(launches) * launch_s);
    }
  }
}

TEST(TrialTime, IsWhatARecordSays) {
  double now_s = 0;
  Backends backends;
  backends.add(std::make_unique<WrappingBackend>("clocked", cpu::make_backend(), [&](auto real) {
    return std::make_unique<ClockedDevice>(std::move(real), now_s);
  }));
  // The made-up clock tells of more time than passes.
  Engine engine(backends, {{.checks = Checks(Check::clock)}, 0.05});
  for (const char* id : {"tensor_ops/neg/f32/n=4", "tensor_ops/add/f32/n=1000"}) {
    for (const std::string_view timing : {batch_timing, cold_timing}) {
      PlannedTrial trial = planned(id, {{"clocked", 0}});
      trial.timing = timing;
      const Record record = engine.execute(trial, [] {}).record;
      ASSERT_EQ(record.status, Status::pass) << record.reason;
      EXPECT_EQ(record.time_min_s, launch_s) << id << " " << timing;
      EXPECT_EQ(record.time_median_s, launch_s) << id << " " << timing;
      EXPECT_EQ(record.time_q3_s, launch_s) << id << " " << timing;
    }
  }
}

}  // namespace
}  // namespace assay
