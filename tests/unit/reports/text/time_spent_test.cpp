#include "reports/text/time_spent.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

RunInfo run_of(double wall_s, const PhaseSeconds& phases) {
  RunInfo run;
  run.wall_s = wall_s;
  run.phases = phases;
  return run;
}

TEST(TimeSpent, NamesTheLargestPartFirstAndNoneThatIsNothing) {
  PhaseSeconds phases;
  phases.sampling = 122;
  phases.reference = 30;
  phases.input = 29.5;
  phases.output = 0.5;  // a quarter of a percent
  EXPECT_EQ(time_spent(run_of(182, phases)), "3 min 2 s = sampling 67%, reference 16%, input 16%");
  phases = {};
  phases.other = 0.0125;
  EXPECT_EQ(time_spent(run_of(0.0125, phases)), "0.013 s = other 100%");
}

TEST(TimeSpent, WorkersSideBySideSpendMoreThanTheWallShows) {
  PhaseSeconds phases;
  phases.comparison = 15;
  phases.reference = 5;
  EXPECT_EQ(time_spent(run_of(8, phases)),
            "8 s, in which workers side by side spent 20 s = comparison 75%, reference 25%");
}

TEST(TimeSpent, SaysWhatATrialTook) {
  PhaseSeconds phases;
  phases.sampling = 20;
  RunInfo run = run_of(20, phases);
  run.taken = 160;
  EXPECT_EQ(time_spent(run), "20 s for 160 trials, 0.12 s each = sampling 100%");
  run.taken = 1;
  EXPECT_EQ(time_spent(run), "20 s for 1 trial, 20 s each = sampling 100%");
}

TEST(TimeSpent, OfARunThatWasResumedIsThatOfAllSessionsThatEnded) {
  PhaseSeconds phases;
  phases.sampling = 500;
  RunInfo run = run_of(516, phases);
  run.taken = 300;
  const Session first{.started_at = "2026-01-01T10:00:00Z",
                      .ended_at = "2026-01-01T10:08:20Z",
                      .interrupted = true,
                      .exit_code = 4,
                      .wall_s = 500,
                      .taken = 290};
  const Session killed{.started_at = "2026-01-01T11:00:00Z"};
  const Session last{.started_at = "2026-01-01T12:00:00Z",
                     .ended_at = "2026-01-01T12:00:16Z",
                     .wall_s = 16,
                     .taken = 10};
  run.sessions = {first};
  EXPECT_EQ(took(run), "8 min 36 s");
  EXPECT_TRUE(sessions(run).empty());
  run.sessions = {first, last};
  EXPECT_EQ(time_spent(run), "8 min 36 s in 2 sessions for 300 trials, 1.7 s each = sampling 100%");
  run.sessions = {first, killed, last};
  EXPECT_EQ(took(run), "8 min 36 s in 2 of 3 sessions");
  EXPECT_EQ(
      sessions(run),
      (std::vector<std::string>{
          "2026-01-01T10:00:00Z to 2026-01-01T10:08:20Z: 8 min 20 s for 290 trials, exit code 4, "
          "interrupted",
          "2026-01-01T11:00:00Z: has no times",
          "2026-01-01T12:00:00Z to 2026-01-01T12:00:16Z: 16 s for 10 trials, exit code 0"}));
}

TEST(TimeSpent, IsUnknownUntilTheEnd) { EXPECT_EQ(time_spent(RunInfo()), ""); }

}  // namespace
}  // namespace assay
