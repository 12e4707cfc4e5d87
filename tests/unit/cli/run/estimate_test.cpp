#include "cli/run/estimate.h"

#include <gtest/gtest.h>

namespace assay::cli {
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

}  // namespace
}  // namespace assay::cli
