// Limits that are timed in turns with trials: kept, verified, and never more than their memory.
#include "harness/execute/yardsticks.h"

#include "harness/execute/engine.h"
#include "kernels/sim/fault.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

constexpr const char* copy_id = "limits/stream_copy/f64/n=1024";

PlannedTrial paired() {
  PlannedTrial trial = planned("tensor_ops/relu/f32/n=4096", {{"sim", 0}});
  trial.timing = batch_timing;
  trial.yardstick = {.case_id = copy_id, .launches = 2};
  return trial;
}

Record execute(std::vector<sim::Fault> faults, const PlannedTrial& trial) {
  Backends backends;
  backends.add(sim::make_backend(1, std::move(faults)));
  Engine engine(backends, {.cap_s = 0.1});
  return engine.execute(trial, [] {}).record;
}

TEST(Yardstick, ATrialTellsItsShareMeasuredInTurns) {
  const Record record = execute({}, paired());
  EXPECT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_GT(record.turns_with_limit, 1);
  ASSERT_TRUE(record.fraction_of_limit);
  EXPECT_GT(*record.fraction_of_limit, 0);
  if (record.turns_with_limit >= 6) {
    EXPECT_LE(record.fraction_ci_low, record.fraction_of_limit);
    EXPECT_GE(record.fraction_ci_high, record.fraction_of_limit);
  }
  PlannedTrial twice = paired();
  twice.yardstick.launches = 2e9;
  EXPECT_GT(*execute({}, twice).fraction_of_limit, 1e6) << "as many launches of the limit";
}

TEST(Yardstick, WithoutItNoShareIsMeasured) {
  PlannedTrial alone = paired();
  alone.yardstick = {};
  const Record record = execute({}, alone);
  EXPECT_EQ(record.status, Status::pass);
  EXPECT_FALSE(record.fraction_of_limit || record.turns_with_limit);
  PlannedTrial checked = paired();
  checked.timing = "";
  EXPECT_FALSE(execute({}, checked).fraction_of_limit) << "only checked";
}

TEST(Yardstick, AWrongOneIsNoMeasure) {
  const Record record = execute({sim::parse_fault("low_bit,op=stream_copy")}, paired());
  EXPECT_EQ(record.status, Status::error);
  EXPECT_TRUE(record.reason.starts_with("its limit, limits/stream_copy/f64/n=1024, is wrong: "))
      << record.reason;
  EXPECT_FALSE(record.fraction_of_limit || record.time_median_s);
}

/// Trials of copies of so many bytes, on a device with so much memory.
class YardsticksOf : public Engines {
 protected:
  std::unique_ptr<Trial> trial(const std::string& n) {
    Device* lane[] = {&device()};
    return std::make_unique<Trial>(parse_case_id("limits/stream_copy/f64/n=" + n).op,
                                   *backends_.find("cpu"), lane);
  }
  Device& device() {
    if (!cpu_) cpu_ = backends_.find("cpu")->open(0);
    return *cpu_;
  }

  std::unique_ptr<Device> cpu_;
  Yardsticks yardsticks_;
};

TEST_F(YardsticksOf, OneCaseOnOneDeviceAreKeptAndFound) {
  EXPECT_EQ(yardsticks_.find("a", "cpu"), nullptr);
  Trial& kept = yardsticks_.keep("a", "cpu", trial("8"));
  yardsticks_.keep("b", "cpu", trial("8"));
  EXPECT_EQ(yardsticks_.find("a", "cpu"), &kept);
  EXPECT_EQ(yardsticks_.find("a", "cuda:0"), nullptr);
  EXPECT_EQ(yardsticks_.find("c", "cpu"), nullptr);
}

TEST_F(YardsticksOf, AnOpThatNeedsTheMemoryGetsIt) {
  yardsticks_.keep("a", "cpu", trial("8"));
  yardsticks_.make_room(parse_case_id("tensor_ops/copy/f32/n=1024").op, device());
  EXPECT_NE(yardsticks_.find("a", "cpu"), nullptr);
  const OpInstance large = parse_case_id("tensor_ops/copy/i8/n=1099511627776").op;  // 2 TiB
  EXPECT_FALSE(Yardsticks::may_keep(large, device()));
  EXPECT_TRUE(Yardsticks::may_keep(parse_case_id(copy_id).op, device()));
  yardsticks_.make_room(large, device());
  EXPECT_EQ(yardsticks_.find("a", "cpu"), nullptr);
}

}  // namespace
}  // namespace assay
