#include "reports/libraries/libraries.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/libraries_support.h"

namespace assay {
namespace {

using testing_support::KernelsRun;
using testing_support::KernelsRuns;

TEST(CompareLibraries, CountsEachOutcomeOnce) {
  const KernelsRuns runs({KernelsRun{"own"}
                              .timed("a", 1)
                              .timed("b", 1)
                              .timed("c", 1)
                              .timed("d", 1)
                              .timed("e", 1)
                              .timed("f", 1)
                              .timed("g", 1),
                          KernelsRun{"lib"}
                              .timed("a", 1)
                              .ended("b", "fail")
                              .ended("c", "vacuous")
                              .ended("d", "skip")
                              .ended("e", "crash")
                              .ended("f", "fail", "issue 7")});
  const LibraryTable table = runs.table();
  ASSERT_EQ(table.rows.size(), 1U);
  const LibraryOutcomes& own = table.rows[0].cells.at(0).outcomes;
  const LibraryOutcomes& lib = table.rows[0].cells.at(1).outcomes;
  EXPECT_EQ(own.asked, 7);
  EXPECT_EQ(own.right, 7);
  EXPECT_EQ(lib.asked, 7);
  EXPECT_EQ(lib.right, 1);
  EXPECT_EQ(lib.wrong, 3) << "a known failure is wrong too";
  EXPECT_EQ(lib.known, 1);
  EXPECT_EQ(lib.broken, 1);
  EXPECT_EQ(lib.skipped, 1);
  EXPECT_EQ(lib.not_offered, 1);
  EXPECT_EQ(lib.right + lib.wrong + lib.broken + lib.skipped + lib.not_offered, lib.asked);
}

TEST(CompareLibraries, AWrongResultIsNeverFast) {
  for (const bool is_first : {true, false}) {
    KernelsRun right{"right"};
    right.timed("a", 1).timed("b", 1);
    KernelsRun wrong{"wrong"};
    wrong.wrong_but_fast("a").timed("b", 1);
    const KernelsRuns runs(is_first ? std::vector{wrong, right} : std::vector{right, wrong});
    const LibraryTimes times = runs.table().all.at(1).times;
    EXPECT_EQ(times.trials, 1U);
    EXPECT_DOUBLE_EQ(times.ratio, 1);
    EXPECT_EQ(times.faster + times.slower, 0U);
  }
}

TEST(CompareLibraries, TimesAreGeometricMeansOverTheFirstRun) {
  const KernelsRuns runs({KernelsRun{"own"}.timed("a", 1).timed("b", 1).timed("only here", 9),
                          KernelsRun{"lib"}.timed("a", 4).timed("b", 1).timed("only there", 9)});
  const LibraryTable table = runs.table();
  const LibraryTimes& times = table.all.at(1).times;
  EXPECT_EQ(times.trials, 2U);
  EXPECT_DOUBLE_EQ(times.ratio, 2);
  ASSERT_TRUE(times.interval);
  // Student's of the logarithms 0 and log 4: the mean ± 12.706 halves of log 4.
  EXPECT_NEAR(std::log(times.interval->high), std::log(2) * (1 + 12.7062), 1e-3);
  EXPECT_NEAR(std::log(times.interval->low), std::log(2) * (1 - 12.7062), 1e-3);
  EXPECT_EQ(table.all[0].times.trials, 0U) << "the first run is the baseline";
}

TEST(CompareLibraries, ASingleTrialHasNoInterval) {
  const KernelsRuns runs({KernelsRun{"own"}.timed("a", 1), KernelsRun{"lib"}.timed("a", 3)});
  const LibraryTimes times = runs.table().all.at(1).times;
  EXPECT_DOUBLE_EQ(times.ratio, 3);
  EXPECT_FALSE(times.interval);
  EXPECT_EQ(times.slower, 1U);
}

TEST(CompareLibraries, OnlyWholeIntervalsBeyondOneAreSlowerOrFaster) {
  const KernelsRuns runs(
      {KernelsRun{"own"}.timed("a", 1).timed("b", 1).timed("c", 1).timed("d", 1),
       KernelsRun{"lib"}.timed("a", 1.03).timed("b", 1.01).timed("c", 0.97).timed("d", 0.99)});
  const LibraryTimes times = runs.table().all.at(1).times;
  EXPECT_EQ(times.slower, 1U);
  EXPECT_EQ(times.faster, 1U);
}

TEST(CompareLibraries, StandInsAreJudgedAndHaveNoSpeed) {
  const KernelsRuns runs({KernelsRun{"own"}.timed("a", 1, 0.01, "add", "f32", ",emulated"),
                          KernelsRun{"lib"}.timed("a", 2, 0.01, "add", "f32", ",emulated")});
  const LibraryTable table = runs.table();
  EXPECT_EQ(table.all.at(1).outcomes.right, 1);
  EXPECT_EQ(table.all.at(1).times.trials, 0U);
}

TEST(CompareLibraries, DisturbedTimesAreCounted) {
  const KernelsRuns runs(
      {KernelsRun{"own"}.timed("a", 1).timed("b", 1),
       KernelsRun{"lib"}.timed("a", 1).timed("b", 1, 0.01, "add", "f32", "true,")});
  EXPECT_EQ(runs.table().all.at(1).times.disturbed, 1U);
}

TEST(CompareLibraries, RowsAreOpsInDtypesAndSumUp) {
  const KernelsRuns runs(
      {KernelsRun{"own"}.timed("a", 1).timed("b", 1, 0.01, "add", "f64"),
       KernelsRun{"lib"}.timed("a", 1).timed("c", 1, 0.01, "sum").timed("d", 1, 0.01, "sum")});
  const LibraryTable table = runs.table();
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].op + table.rows[0].dtype, "addf32");
  EXPECT_EQ(table.rows[1].op + table.rows[1].dtype, "addf64");
  EXPECT_EQ(table.rows[2].op + table.rows[2].dtype, "sumf32");
  EXPECT_EQ(table.rows[1].cells[1].outcomes.not_offered, 1);
  EXPECT_EQ(table.rows[2].cells[0].outcomes.not_offered, 2);
  EXPECT_EQ(table.all[0].outcomes.asked, 4);
  EXPECT_EQ(table.all[1].outcomes.right, 3);
}

TEST(CompareLibraries, ARunIsNotAskedForDevicesThatItDidNotHave) {
  KernelsRun both{"own"};
  both.timed("a", 1).ended("a", "pass", "", "cuda:0").devices = {"cpu", "cuda:0"};
  const KernelsRuns runs({both, KernelsRun{"lib"}.timed("a", 1)});
  const LibraryTable table = runs.table();
  EXPECT_EQ(table.all[0].outcomes.asked, 2);
  EXPECT_EQ(table.all[1].outcomes.asked, 1);
  EXPECT_EQ(table.all[1].outcomes.not_offered, 0);
}

TEST(CompareLibraries, RunsWithoutACommonVerdictAreTold) {
  const KernelsRuns runs({KernelsRun{"own"}.timed("a", 1), KernelsRun{"x"}.timed("b", 1),
                          KernelsRun{"y"}.ended("a", "skip"), KernelsRun{"z"}.ended("a", "fail")});
  EXPECT_EQ(runs.table().unanswered, (std::vector<std::size_t>{1, 2}));
}

}  // namespace
}  // namespace assay
