#include "session/soak/soak_job.h"

#include <gtest/gtest.h>
namespace assay {
namespace {

std::vector<Case> three_cases() {
  return {parse_case_id("limits/stream_copy/f64/n=1"), parse_case_id("limits/stream_copy/f64/n=2"),
          parse_case_id("limits/stream_copy/f64/n=3")};
}

double total_s(const std::vector<PlannedTrial>& plan) {
  double sum = 0;
  for (const PlannedTrial& trial : plan) sum += trial.soak_s;
  return sum;
}

TEST(SoakPlan, GivesEachCaseItsTurn) {
  const auto plan = soak_plan({"cpu", 0}, three_cases(), 45, std::nullopt);
  ASSERT_EQ(plan.size(), 5U);
  EXPECT_EQ(plan[0].test.id(), plan[3].test.id());
  EXPECT_NE(plan[0].test.id(), plan[1].test.id());
  EXPECT_EQ(plan[4].repeat, 5);
  EXPECT_EQ(plan[0].soak_s, 10);
  EXPECT_EQ(plan[4].soak_s, 5) << "the rest";
  EXPECT_EQ(total_s(plan), 45);
}

TEST(SoakPlan, ShortensTheIntervalsOfAShortSoak) {
  const auto plan = soak_plan({"cpu", 0}, three_cases(), 3, std::nullopt);
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_DOUBLE_EQ(total_s(plan), 3);
  EXPECT_EQ(soak_plan({"cpu", 0}, three_cases(), 3, 5.0).size(), 1U);
  EXPECT_EQ(total_s(soak_plan({"cpu", 0}, three_cases(), 3, 5.0)), 3);
}

TEST(SoakPlan, HasNoEmptyLastInterval) {
  for (const PlannedTrial& trial : soak_plan({"cpu", 0}, three_cases(), 0.7, 0.1)) {
    EXPECT_GT(trial.soak_s, 0.05);
  }
  EXPECT_EQ(soak_plan({"cpu", 0}, three_cases(), 0.7, 0.1).size(), 7U);
}

}  // namespace
}  // namespace assay
