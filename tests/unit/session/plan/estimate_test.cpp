#include "session/plan/estimate.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace assay {
namespace {

TEST(TimeLeft, IsTheEstimateBeforeAnythingIsDone) { EXPECT_DOUBLE_EQ(time_left_s(0, 0, 300), 300); }

TEST(TimeLeft, OfAPlanInTimeIsWhatIsLeftOfTheEstimate) {
  EXPECT_DOUBLE_EQ(time_left_s(100, 100, 300), 200);
}

TEST(TimeLeft, FollowsThePaceOnceMuchIsDone) {
  EXPECT_NEAR(time_left_s(400, 200, 300), 200, 10) << "half as fast as estimated";
  EXPECT_NEAR(time_left_s(100, 200, 300), 50, 5) << "twice as fast";
}

TEST(TimeLeft, ASlowFirstTrialDoesNotMultiply) {
  // 1 of 2446 trials, estimated at 4 ms, took half a second with the start of the worker.
  EXPECT_LT(time_left_s(0.5, 0.004, 300), 1.1 * 300);
}

TEST(TimeLeft, EndsAtNothing) {
  EXPECT_DOUBLE_EQ(time_left_s(500, 300, 300), 0);
  EXPECT_DOUBLE_EQ(time_left_s(500, 310, 300), 0) << "retries";
  EXPECT_DOUBLE_EQ(time_left_s(0, 0, 0), 0) << "nothing to do";
}

Record row(const PlannedTrial& trial, bool is_held = false) {
  Record record;
  record.case_id = trial.test.id();
  record.device = lane_text(trial);
  record.timing = trial.timing;
  if (is_held) record.wall_s = 2;
  return record;
}

class WorkOfFour : public testing::Test {
 protected:
  WorkOfFour() {
    for (const char* n : {"3", "4", "5", "6"}) {
      plan.push_back({.test = parse_case_id(std::string("tensor_ops/add/f32/n=") + n),
                      .lane = {*parse_device_id("cpu")},
                      .timing = "warm"});
    }
    left.emplace(plan, 1, 0.5);
  }

  std::vector<PlannedTrial> plan;
  std::optional<WorkLeft> left;
};

TEST_F(WorkOfFour, IsLessWithEachRow) {
  EXPECT_NEAR(left->seconds(0), 4, 0.1);
  EXPECT_TRUE(left->finish(row(plan[0])));
  EXPECT_NEAR(left->seconds(1), 3, 0.1);
  Record attempt = row(plan[0]);
  attempt.attempt = 2;
  EXPECT_FALSE(left->finish(attempt)) << "counted already";
  EXPECT_NEAR(left->seconds(1), 3, 0.1);
}

TEST_F(WorkOfFour, OfHeldTrialsIsTheirSecondTakes) {
  left->hold(row(plan[0], true));
  EXPECT_EQ(left->held(), 1U);
  EXPECT_NEAR(left->seconds(1), 3 + 0.5 * 4, 0.1) << "no more than their share";
  for (int i : {1, 2, 3}) EXPECT_TRUE(left->finish(row(plan[static_cast<std::size_t>(i)])));
  EXPECT_NEAR(left->seconds(40), 2, 0.01);
  EXPECT_FALSE(left->finish(row(plan[0]))) << "done before";
  EXPECT_EQ(left->held(), 0U);
  EXPECT_DOUBLE_EQ(left->seconds(42), 0);
}

}  // namespace
}  // namespace assay
