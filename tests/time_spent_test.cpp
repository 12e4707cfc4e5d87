#include "reports/time_spent.h"

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
  EXPECT_EQ(time_spent(run_of(182, phases)), "182 s = sampling 67%, reference 16%, input 16%");
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

TEST(TimeSpent, IsUnknownUntilTheEnd) { EXPECT_EQ(time_spent(RunInfo()), ""); }

}  // namespace
}  // namespace assay
