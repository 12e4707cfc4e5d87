#include "reports/files/stored_trials.h"

#include <gtest/gtest.h>

#include "harness/records/fields_text.h"
#include "kernels/core/status.h"
#include "reports/files/results_reader.h"
#include "reports/text/outcomes.h"
#include "tests/unit/reports_support.h"
#include "tests/unit/stored_trials_support.h"

namespace assay {
namespace {

using namespace testing_support;

std::string refusal(const std::string& rows) {
  return message_of<UsageError>([&] { stored(rows); });
}

const StoredTrial& only(const StoredTrials& trials) {
  EXPECT_EQ(trials.trials().size(), 1U);
  return trials.trials().front();
}

TEST(StoredTrials, KeepsWhatAComparisonNeeds) {
  const auto trials = stored("x,cpu,batch,1,1,pass,,,2,1.5,3,true,false\n");
  const StoredTrial& trial = only(*trials);
  EXPECT_EQ(trial.case_id, "x");
  EXPECT_EQ(trial.group->device, "cpu");
  EXPECT_EQ(trial.group->timing, "batch");
  EXPECT_TRUE(trial.passed());
  ASSERT_TRUE(trial.time);
  EXPECT_EQ(trial.time->median_s, 2);
  EXPECT_EQ(trial.time->low_s, 1.5);
  EXPECT_EQ(trial.time->high_s, 3);
  EXPECT_TRUE(trial.time->contended);
  EXPECT_FALSE(trial.time->throttled);
}

TEST(StoredTrials, OfSeveralAttemptsTheLastCountsWhateverTheirOrder) {
  const auto trials = stored(
      "x,cpu,batch,2,1,pass,,,2,1,3,,\n"
      "x,cpu,batch,1,1,fail,3 mismatches,,,,,,\n"
      "y,cpu,batch,1,1,crash,died,,,,,,\n"
      "y,cpu,batch,2,1,timeout,too long,,,,,,\n");
  ASSERT_EQ(trials->trials().size(), 2U);
  const StoredTrial& flaky = trials->trials()[0];
  EXPECT_EQ(flaky.status, Status::flaky);
  EXPECT_EQ(flaky.reason, "attempt 1: fail: 3 mismatches");
  EXPECT_FALSE(flaky.time) << "no times of what is not right";
  EXPECT_EQ(trials->trials()[1].status, Status::timeout);
}

TEST(StoredTrials, OfSeveralRepeatsTheWorstCounts) {
  const auto trials = stored(
      "x,cpu,,1,1,pass,,,,,,,\n"
      "x,cpu,,1,2,fail,wrong,,,,,,\n"
      "x,cpu,,1,3,crash,died,,,,,,\n"
      "x,cpu,,1,4,pass,,,,,,,\n");
  EXPECT_EQ(only(*trials).status, Status::fail);
  EXPECT_EQ(only(*trials).repeats, 4);
  EXPECT_EQ(only(*trials).reason, "in 2 of 4 repeats: wrong");
}

TEST(StoredTrials, SeveralRepeatsGiveTheMedianAndTheEnvelope) {
  const auto trials = stored(
      "x,cpu,batch,1,3,pass,,,5,4.9,5.2,,\n"
      "x,cpu,batch,1,1,pass,,,2,1.9,2.1,,true\n"
      "x,cpu,batch,1,2,pass,,,3,2.5,3.5,,\n");
  const StoredTime& time = *only(*trials).time;
  EXPECT_EQ(time.median_s, 3);
  EXPECT_EQ(time.low_s, 1.9);
  EXPECT_EQ(time.high_s, 5.2);
  EXPECT_TRUE(time.throttled);
}

TEST(StoredTrials, AnIntervalHoldsItsMedian) {
  const auto time = only(*stored("x,cpu,batch,1,1,pass,,,2,2.1,2.2,,\n")).time;
  EXPECT_EQ(time->low_s, 2);
  EXPECT_EQ(time->high_s, 2.2);
}

TEST(StoredTrials, WithoutAnIntervalThereIsNone) {
  EXPECT_FALSE(only(*stored("x,cpu,batch,1,1,pass,,,2,,,,\n")).time->has_interval());
  EXPECT_FALSE(only(*stored("x,cpu,batch,1,1,pass,,,2,1.9,2.1,,\n"
                            "x,cpu,batch,1,2,pass,,,2,,,,\n"))
                   .time->has_interval());
}

TEST(StoredTrials, AgreesWithOutcomesOnEveryHistoryOfTwoRepeatsAndTwoAttempts) {
  const std::vector<std::string> ends{
      "pass,,", "fail,bad,", "fail,bad,known", "skip,none,", "crash,died,", "flaky,once,", ""};
  for (std::size_t code = 0; code < 7 * 7 * 7 * 7; ++code) {
    std::string rows;
    std::size_t rest = code;
    for (const std::string key : {"1,1", "2,1", "1,2", "2,2"}) {
      const std::string& end = ends[rest % 7];
      rest /= 7;
      if (!end.empty()) rows += "x,cpu,," + key + "," + end + ",,,,,\n";
    }
    if (rows.empty()) continue;
    std::istringstream text(stored_header + rows);
    const Record expected = Outcomes(read_results(text, "r")).trials().front();
    const auto trials = stored(rows);
    const StoredTrial& trial = only(*trials);
    ASSERT_EQ(trial.status, expected.status) << rows;
    ASSERT_EQ(trial.accepted, !expected.expected_failure.empty()) << rows;
    ASSERT_EQ(trial.is_bad(), expected.is_bad()) << rows;
    ASSERT_EQ(trial.reason, expected.reason) << rows;
  }
}

TEST(StoredTrials, KnowTheProductOfADeviceFromAnyOfItsRows) {
  std::istringstream text(
      "case_id,device,device_name,timing,attempt,repeat,status\n"
      "x,cuda:0,,batch,1,1,crash\n"
      "x,cuda:0,H100,batch,2,1,pass\n"
      "x,cpu,,batch,1,1,pass\n");
  const StoredTrials trials(text, "r.csv");
  EXPECT_EQ(trials.product("cuda:0"), "H100");
  EXPECT_EQ(trials.product("cpu"), "");
  EXPECT_EQ(trials.product("cuda:1"), "");
}

TEST(StoredTrials, KeepTheHashOfAPassingOutput) {
  std::istringstream text(
      "case_id,device,timing,attempt,repeat,status,output_hash\n"
      "x,cpu,batch,1,1,pass,00000000000000ff\n"
      "y,cpu,batch,1,1,fail,00000000000000ff\n"
      "z,cpu,batch,1,1,pass,\n");
  const StoredTrials trials(text, "r.csv");
  EXPECT_EQ(trials.trials()[0].output_hash, 0xffU);
  EXPECT_EQ(trials.trials()[1].output_hash, 0U);
  EXPECT_EQ(trials.trials()[2].output_hash, 0U);
}

TEST(StoredTrials, FindsATrialByItsWholeKey) {
  const auto trials = stored(timed_row("x,cpu,batch", 1) + timed_row("x,cpu,cold", 2) +
                             timed_row("x,sim:0,batch", 3) + timed_row("y,cpu,batch", 4));
  EXPECT_EQ(trials->find("x", "sim:0", "batch"), 2U);
  EXPECT_EQ(trials->find("y", "cpu", "batch"), 3U);
  EXPECT_EQ(trials->find("y", "cpu", "cold"), StoredTrials::absent);
  EXPECT_EQ(trials->find("", "", ""), StoredTrials::absent);
}

TEST(StoredTrials, AKeyThatIsThereTwiceIsRefused) {
  EXPECT_EQ(refusal("x,cpu,,1,1,pass,,,,,,,\ny,cpu,,1,1,pass,,,,,,,\nx,cpu,,1,1,fail,,,,,,,\n"),
            "r.csv:4:1: a second row of x on cpu (not timed, attempt 1, repeat 1); the first is in "
            "line 2");
}

TEST(StoredTrials, MistakesAreNamedByLineAndColumn) {
  EXPECT_EQ(refusal("x,cpu,,1,1,pass\n"), "r.csv:2:12: 6 fields where the header has 13");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "r.csv:2:12: status: unknown status 'paas'",
                      refusal("x,cpu,,1,1,paas,,,,,,,\n"));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "r.csv:2:19: time_median_s: must be a finite number",
                      refusal("x,cpu,,1,1,pass,,,nan,,,,\n"));
  EXPECT_EQ(refusal("x,cpu,,1,1,pass,,,0,,,,\n"), "r.csv:2:19: time_median_s: must be above 0");
  EXPECT_EQ(refusal("x,cpu,,1,1,pass,,,-1,,,,\n"), "r.csv:2:19: time_median_s: must be above 0");
  EXPECT_EQ(refusal("x,cpu,,1,1,pass,,,2,3,1,,\n"),
            "r.csv:2:21: time_ci_low_s: above time_ci_high_s");
  EXPECT_EQ(message_of<UsageError>([] {
              std::istringstream nothing;
              const StoredTrials trials(nothing, "r.csv");
            }),
            "r.csv:1:1: no header");
}

}  // namespace
}  // namespace assay
