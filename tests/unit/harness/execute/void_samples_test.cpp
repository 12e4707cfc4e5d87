// Samples in which the blocking of a stream lapsed are taken again.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "harness/execute/engine.h"
#include "kernels/cpu/backend.h"
#include "kernels/device/forwarding.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

/// Its blocking lapses in every third time, which then has the host's gap in it.
class LapsingStream final : public ForwardingStream {
 public:
  using ForwardingStream::ForwardingStream;
  static constexpr double gap_s = 10;

  double elapsed_s(const Event& start, const Event& stop) override {
    has_lapsed_ = ++times_ % 3 == 0;
    return ForwardingStream::elapsed_s(start, stop) + (has_lapsed_ ? gap_s : 0);
  }
  bool take_lapse() override { return std::exchange(has_lapsed_, false); }

 private:
  int times_ = 0;
  bool has_lapsed_ = false;
};

class LapsingDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::unique_ptr<Stream> create_stream() override {
    return std::make_unique<LapsingStream>(ForwardingDevice::create_stream());
  }
};

Result timed_with(EngineOptions options) {
  Backends backends;
  backends.add(std::make_unique<WrappingBackend>("lapsing", cpu::make_backend(), [](auto real) {
    return std::make_unique<LapsingDevice>(std::move(real));
  }));
  options.cap_s = 0.1;
  Engine engine(backends, options);
  PlannedTrial trial = planned("tensor_ops/add/f32/n=1003", {{"lapsing", 0}});
  trial.timing = batch_timing;
  return engine.execute(trial, [] {});
}

TEST(VoidSamples, AreTakenAgainAndCountedAndInNoFigure) {
  const Result result = timed_with({});
  EXPECT_EQ(result.record.status, Status::pass) << result.record.reason;
  EXPECT_GT(result.record.void_samples.value_or(0), 0);
  ASSERT_FALSE(result.samples.empty());
  for (const Sample& sample : result.samples) EXPECT_LT(sample.seconds, LapsingStream::gap_s);
}

TEST(VoidSamples, AreNoneWhereKernelsOfOthersCouldVoidWhatIsSlow) {
  EngineOptions options;
  options.kernels = "theirs.so";
  const Result result = timed_with(options);
  EXPECT_EQ(result.record.status, Status::fail) << "a time in the gap counts, and was never seen";
  EXPECT_EQ(result.record.caught_by, Check::clock) << result.record.reason;
}

}  // namespace
}  // namespace assay
