#include "reports/text/outcomes.h"

#include <gtest/gtest.h>

#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

RunVerdict verdict_of(const std::vector<Status>& statuses, std::int64_t planned, int exit_code) {
  std::vector<Record> records;
  records.reserve(statuses.size());
  for (const Status status : statuses) {
    records.push_back(sample_record(static_cast<int>(records.size()), status));
  }
  return run_verdict(sample_run(planned, exit_code), Outcomes(records).tally());
}

Record attempt(std::int64_t number, Status status) {
  Record record = sample_record(1, status);
  record.attempt = number;
  return record;
}

TEST(Outcomes, TheLastAttemptDecides) {
  const std::vector<Record> records{attempt(1, Status::crash), sample_record(2),
                                    attempt(2, Status::fail), attempt(3, Status::timeout)};
  const auto last = Outcomes(records).trials();
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].status, Status::timeout);
  EXPECT_EQ(last[0].attempt, 3);
  EXPECT_EQ(last[1].case_id, "copy/f32/n=2");
}

TEST(Outcomes, AnEarlierAttemptThatComesLateDecidesNothing) {
  const std::vector<Record> records{attempt(2, Status::fail), attempt(1, Status::pass)};
  EXPECT_EQ(Outcomes(records).trials().at(0).status, Status::fail);
}

TEST(Outcomes, APassAfterAFailureIsFlaky) {
  std::vector<Record> records{attempt(1, Status::fail), attempt(2, Status::pass)};
  records[0].reason = "3 of 4 wrong";
  records[0].caught_by = Check::exact;
  const auto last = Outcomes(records).trials();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].status, Status::flaky);
  EXPECT_EQ(last[0].reason, "attempt 1: fail: 3 of 4 wrong");
  EXPECT_EQ(last[0].caught_by, Check::exact) << "as its reason says";
}

TEST(Outcomes, KeepsTrialsApart) {
  std::vector<Record> records(3, sample_record(1));
  records[1].timing = "cold";
  records[2].device = "cuda:0";
  EXPECT_EQ(Outcomes(records).trials().size(), 3U);
}

TEST(Outcomes, OfRepeatsTheWorstIsShownAndEveryOneIsCounted) {
  Outcomes outcomes;
  for (int repeat = 1; repeat <= 5; ++repeat) {
    Record record = sample_record(1, repeat == 2 || repeat == 5 ? Status::fail : Status::pass);
    if (repeat == 3) record.status = Status::crash;
    record.reason = record.status == Status::pass ? "" : "r" + std::to_string(repeat);
    record.repeat = repeat;
    outcomes.add(record);
  }
  ASSERT_EQ(outcomes.trials().size(), 1U);
  EXPECT_EQ(outcomes.trials()[0].status, Status::fail) << "wrong is worse than broken";
  EXPECT_EQ(outcomes.trials()[0].reason, "in 3 of 5 repeats: r5");
  EXPECT_EQ(outcomes.tally().total, 1);
  EXPECT_EQ(outcomes.tally().finished, 5);
}

TEST(Outcomes, AFailureInAnEarlierRepeatIsNotHiddenByPassesOrRetries) {
  std::vector<Record> records{attempt(1, Status::fail), attempt(2, Status::pass)};
  records.push_back(sample_record(1));
  records.back().repeat = 2;
  const Outcomes outcomes(records);
  EXPECT_EQ(outcomes.trials()[0].status, Status::flaky);
  EXPECT_EQ(outcomes.tally().finished, 2) << "a retry is no trial of its own";
}

TEST(Outcomes, AnAcceptedFailureIsCountedApart) {
  Record known = sample_record(1, Status::fail);
  known.expected_failure = "bug 7 (someone, until 2030-01-01)";
  const Tally counts = Outcomes(std::vector{known, sample_record(2)}).tally();
  EXPECT_EQ(counts.count(StatusClass::wrong), 0);
  EXPECT_EQ(counts.expected, 1);
  EXPECT_EQ(counts.text(), "1 pass, 1 expected failure");
  const RunVerdict shown = run_verdict(sample_run(2, 0), counts);
  EXPECT_TRUE(shown.passed);
  EXPECT_EQ(shown.why, "1 right, 1 expected failure");
}

TEST(Tally, CountsStatusesAndClasses) {
  Tally counts;
  EXPECT_EQ(counts.text(), "no results");
  for (const Status status : all_statuses()) counts.add(sample_record(1, status));
  counts.add(sample_record(1));
  EXPECT_EQ(counts.total, 11);
  EXPECT_EQ(counts.count(Status::pass), 2);
  EXPECT_EQ(counts.count(StatusClass::right), 2);
  EXPECT_EQ(counts.count(StatusClass::wrong), 3);
  EXPECT_EQ(counts.count(StatusClass::broken), 5);
  EXPECT_EQ(counts.count(StatusClass::skipped), 1);
  EXPECT_EQ(counts.text(),
            "2 pass, 1 fail, 1 flaky, 1 skip, 1 timeout, 1 crash, 1 oom, 1 device_lost, 1 error, "
            "1 vacuous");
}

Record skipped(int n, const std::string& dtype, SkipCategory category, const std::string& why) {
  Record record = sample_record(n, Status::skip);
  record.dtype = dtype;
  record.skip_category = category;
  record.reason = skip_reason(category, why);
  return record;
}

TEST(Tally, NamesWhatALibraryRefusedAltogether) {
  const Record passed = sample_record(1);
  const std::string cell = passed.suite + "/" + passed.op + "/bf16 on " + passed.device;
  const Tally tally =
      Outcomes(std::vector{passed, skipped(2, passed.dtype, SkipCategory::unsupported, "one shape"),
                           skipped(3, "bf16", SkipCategory::unsupported, "A"),
                           skipped(4, "bf16", SkipCategory::unsupported, "B"),
                           skipped(5, "f16", SkipCategory::not_here, "no units"),
                           skipped(6, "f64", SkipCategory::too_few_devices, "2 ranks")})
          .tally();
  ASSERT_EQ(tally.untested.size(), 1U);
  EXPECT_EQ(tally.untested[0].first, cell);
  EXPECT_EQ(tally.untested[0].second, "unsupported: A");

  const RunVerdict shown = run_verdict(sample_run(6, 3), tally);
  EXPECT_EQ(shown.word, "INCOMPLETE");
  EXPECT_FALSE(shown.passed);
  EXPECT_EQ(shown.why, "nothing ran of " + cell + ": unsupported: A");
  EXPECT_TRUE(run_verdict(sample_run(6, 0), tally).passed) << "a shard need not touch everything";
}

TEST(RunVerdict, OnlyACompleteRunWithARightResultHasPassed) {
  EXPECT_TRUE(verdict_of({Status::pass}, 1, 0).passed);
  EXPECT_EQ(verdict_of({Status::pass, Status::skip}, 2, 0).why, "1 right, 1 skipped");
  EXPECT_FALSE(verdict_of({}, 0, 0).passed);
  EXPECT_FALSE(verdict_of({Status::skip}, 1, 0).passed);
  EXPECT_FALSE(verdict_of({Status::pass}, 2, 0).passed);
  EXPECT_FALSE(verdict_of({Status::pass}, 1, 3).passed);
  for (const Status status : all_statuses()) {
    if (class_of(status) == StatusClass::wrong || class_of(status) == StatusClass::broken) {
      EXPECT_FALSE(verdict_of({Status::pass, status}, 2, 1).passed) << name(status);
    }
    if (status != Status::pass && status != Status::skip) {
      EXPECT_FALSE(verdict_of({Status::pass, status}, 2, 0).passed)
          << name(status) << ", whatever the exit code";
    }
  }
}

TEST(RunVerdict, SaysWhat) {
  EXPECT_EQ(verdict_of({Status::fail, Status::crash}, 9, 1).word, "FAILED");
  EXPECT_EQ(verdict_of({Status::fail, Status::crash, Status::pass}, 3, 1).why,
            "1 wrong, 1 crashed; 1 right");
  EXPECT_EQ(verdict_of({Status::fail}, 1, 1).why, "1 wrong");
  EXPECT_EQ(verdict_of({Status::fail}, 9, 1).why, "1 wrong; 8 of 9 not run");
  EXPECT_EQ(verdict_of({Status::pass, Status::crash}, 9, 4).word, "FAILED");
  EXPECT_EQ(verdict_of({Status::pass}, 9, 0).word, "INCOMPLETE");
  EXPECT_EQ(verdict_of({Status::pass}, 9, 0).why, "1 right, 8 of 9 not run");
  EXPECT_EQ(verdict_of({Status::skip}, 1, 3).word, "INCOMPLETE");
  EXPECT_EQ(verdict_of({Status::pass}, 1, 3).word, "FAILED");
  EXPECT_EQ(verdict_of({Status::pass}, 1, 3).why, "1 right, but the run ended with exit code 3");
  EXPECT_EQ(verdict_of({Status::pass, Status::pass}, 2, 0).word, "PASSED");
}

TEST(RunVerdict, CountsWhatTurnsTheRunRed) {
  RunInfo run = sample_run(1, 1);
  for (const Status status : all_statuses()) {
    const Tally one = Outcomes(std::vector{sample_record(1, status)}).tally();
    EXPECT_EQ(turns_red(status, run), run_verdict(run, one).shown_by_a_result) << name(status);
  }
  EXPECT_TRUE(turns_red(Status::crash, run));
  EXPECT_TRUE(turns_red(Status::flaky, run));
  run.allow_flaky = true;
  EXPECT_FALSE(turns_red(Status::flaky, run));
}

TEST(RunVerdict, ARunThatHasNotEndedIsIncompleteHoweverMuchIsRight) {
  RunInfo run = sample_run(1, 0);
  run.ended_at.clear();
  EXPECT_EQ(run_verdict(run, Outcomes(std::vector{sample_record(1)}).tally()).word, "INCOMPLETE");
}

TEST(RunVerdict, AnInterruptedRunIsIncomplete) {
  RunInfo run = sample_run(1, 0);
  run.interrupted = true;
  const std::vector<Record> records{sample_record(1)};
  EXPECT_EQ(run_verdict(run, Outcomes(records).tally()).word, "INCOMPLETE");
}

TEST(RunVerdict, FlakyResultsPassOnlyWhereTheRunAcceptedThem) {
  EXPECT_EQ(verdict_of({Status::pass, Status::flaky}, 2, 1).word, "FAILED");
  EXPECT_EQ(verdict_of({Status::pass, Status::flaky}, 2, 0).word, "FAILED");
  RunInfo run = sample_run(2, 0);
  run.allow_flaky = true;
  const Outcomes outcomes(std::vector{sample_record(1), sample_record(2, Status::flaky)});
  EXPECT_EQ(run_verdict(run, outcomes.tally()).word, "PASSED");
  EXPECT_EQ(run_verdict(run, outcomes.tally()).why, "1 right, 1 flaky and accepted");
}

}  // namespace
}  // namespace assay
