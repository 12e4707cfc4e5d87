#include "reports/outcomes.h"

#include <gtest/gtest.h>

#include "tests/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

RunVerdict verdict_of(const std::vector<Status>& statuses, std::int64_t planned, int exit_code) {
  std::vector<Record> records;
  records.reserve(statuses.size());
  for (const Status status : statuses) {
    records.push_back(sample_record(static_cast<int>(records.size()), status));
  }
  return run_verdict(sample_run(planned, exit_code), tally(outcomes(records)));
}

Record attempt(std::int64_t number, Status status) {
  Record record = sample_record(1, status);
  record.attempt = number;
  return record;
}

TEST(Outcomes, TheLastAttemptDecides) {
  const std::vector<Record> records{attempt(1, Status::crash), sample_record(2),
                                    attempt(2, Status::fail), attempt(3, Status::timeout)};
  const auto last = outcomes(records);
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].status, Status::timeout);
  EXPECT_EQ(last[0].attempt, 3);
  EXPECT_EQ(last[1].case_id, "copy/f32/n=2");
}

TEST(Outcomes, APassAfterAFailureIsFlaky) {
  std::vector<Record> records{attempt(1, Status::fail), attempt(2, Status::pass)};
  records[0].reason = "3 of 4 wrong";
  const auto last = outcomes(records);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].status, Status::flaky);
  EXPECT_EQ(last[0].reason, "attempt 1: fail: 3 of 4 wrong");
}

TEST(Outcomes, KeepsTrialsApart) {
  std::vector<Record> records(4, sample_record(1));
  records[1].timing = "cold";
  records[2].device = "cuda:0";
  records[3].repeat = 2;
  EXPECT_EQ(outcomes(records).size(), 4U);
}

TEST(Tally, CountsStatusesAndClasses) {
  Tally counts;
  EXPECT_EQ(counts.text(), "no results");
  for (const Status status : all_statuses()) counts.add(status);
  counts.add(Status::pass);
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

TEST(RunVerdict, OnlyACompleteRunWithARightResultHasPassed) {
  EXPECT_TRUE(verdict_of({Status::pass}, 1, 0).passed);
  EXPECT_EQ(verdict_of({Status::pass, Status::skip}, 2, 0).why, "1 result right, 1 skipped");
  EXPECT_FALSE(verdict_of({}, 0, 0).passed);
  EXPECT_FALSE(verdict_of({Status::skip}, 1, 0).passed);
  EXPECT_FALSE(verdict_of({Status::pass}, 2, 0).passed);
  EXPECT_FALSE(verdict_of({Status::pass}, 1, 3).passed);
  for (const Status status : all_statuses()) {
    if (class_of(status) == StatusClass::wrong || class_of(status) == StatusClass::broken) {
      EXPECT_FALSE(verdict_of({Status::pass, status}, 2, 1).passed) << name(status);
    }
    if (status != Status::pass && status != Status::skip && status != Status::flaky) {
      EXPECT_FALSE(verdict_of({Status::pass, status}, 2, 0).passed)
          << name(status) << ", whatever the exit code";
    }
  }
}

TEST(RunVerdict, SaysWhat) {
  EXPECT_EQ(verdict_of({Status::fail, Status::crash}, 9, 1).word, "FAILED");
  EXPECT_EQ(verdict_of({Status::fail, Status::crash}, 2, 1).why, "1 result of 2 wrong");
  EXPECT_EQ(verdict_of({Status::fail}, 9, 1).why,
            "1 result of 1 wrong; 8 trials of 9 without a result");
  EXPECT_EQ(verdict_of({Status::pass, Status::crash}, 9, 4).word, "BROKEN");
  EXPECT_EQ(verdict_of({Status::pass}, 9, 0).word, "INCOMPLETE");
  EXPECT_EQ(verdict_of({Status::pass}, 9, 0).why, "8 trials of 9 without a result");
  EXPECT_EQ(verdict_of({Status::skip}, 1, 3).word, "EMPTY");
  EXPECT_EQ(verdict_of({Status::pass}, 1, 3).word, "NOT PASSED");
  EXPECT_EQ(verdict_of({Status::pass, Status::pass}, 2, 0).word, "PASSED");
}

TEST(RunVerdict, AnInterruptedRunIsIncomplete) {
  RunInfo run = sample_run(1, 0);
  run.interrupted = true;
  const std::vector<Record> records{sample_record(1)};
  EXPECT_EQ(run_verdict(run, tally(records)).word, "INCOMPLETE");
}

TEST(RunVerdict, FlakyResultsPassOnlyWhereTheRunAcceptedThem) {
  EXPECT_EQ(verdict_of({Status::pass, Status::flaky}, 2, 1).word, "FAILED");
  EXPECT_EQ(verdict_of({Status::pass, Status::flaky}, 2, 0).word, "PASSED");
  EXPECT_EQ(verdict_of({Status::pass, Status::flaky}, 2, 0).why,
            "1 result right, 1 flaky and accepted");
}

}  // namespace
}  // namespace assay
