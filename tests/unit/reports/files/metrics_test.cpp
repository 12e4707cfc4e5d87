#include "reports/files/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Metrics, AreExactlyTheseForAPassingRun) {
  std::vector<Record> records{sample_record(1), sample_record(2, Status::skip)};
  records[0].op = "copy";
  records[0].dtype = "f32";
  records[0].params = "n=1";
  records[0].bandwidth_bytes_per_s = 4.25e10;
  records[0].time_median_s = 1e-9;
  RunInfo run = sample_run(2, 0);
  run.profile = "smoke";
  run.git_revision = "abc";
  EXPECT_EQ(metrics_text(run, Outcomes(records)),
            R"(# HELP assay_run_info What ran, as labels.
# TYPE assay_run_info gauge
assay_run_info{version="1.0.0",revision="abc",profile="smoke",run_id="r1"} 1
# HELP assay_run_passed 1 if the run is complete and everything in it is right.
# TYPE assay_run_passed gauge
assay_run_passed 1
# HELP assay_run_ended 1 if the run has ended; 0 while it goes on, or if it was killed.
# TYPE assay_run_ended gauge
assay_run_ended 1
# HELP assay_run_start_time_seconds When the run began, in seconds since 1970.
# TYPE assay_run_start_time_seconds gauge
assay_run_start_time_seconds 1706702400
# HELP assay_run_end_time_seconds When the run ended, in seconds since 1970.
# TYPE assay_run_end_time_seconds gauge
assay_run_end_time_seconds 1706702460
# HELP assay_run_planned_trials Trials that were planned.
# TYPE assay_run_planned_trials gauge
assay_run_planned_trials 2
# HELP assay_trials Trials by device and outcome.
# TYPE assay_trials gauge
assay_trials{device="cpu",outcome="pass"} 1
assay_trials{device="cpu",outcome="skip"} 1
# HELP assay_bytes_per_second Data moved at the largest case of an op.
# TYPE assay_bytes_per_second gauge
assay_bytes_per_second{suite="copy",op="copy",dtype="f32",params="n=1",device="cpu",timing="batch"} 42500000000
# EOF
)");
}

TEST(Metrics, OfARunThatDidNotPassOrEndSaySo) {
  const auto of = [](const RunInfo& run, const std::vector<Record>& records) {
    return metrics_text(run, Outcomes(records));
  };
  EXPECT_THAT(of(sample_run(0, 3), {}), HasSubstr("\nassay_run_passed 0\n"));
  EXPECT_THAT(of(sample_run(1, 1), {sample_record(1, Status::fail)}),
              HasSubstr("\nassay_run_passed 0\n"));
  EXPECT_THAT(of(sample_run(2, 0), {sample_record(1)}), HasSubstr("\nassay_run_passed 0\n"))
      << "a trial is missing";
  RunInfo killed = sample_run(1, 0);
  killed.ended_at = "";
  const std::string text = of(killed, {sample_record(1)});
  EXPECT_THAT(text, HasSubstr("\nassay_run_passed 0\n"));
  EXPECT_THAT(text, HasSubstr("\nassay_run_ended 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("assay_run_end_time_seconds")));
}

TEST(Metrics, EscapeWhatWouldEndALabel) {
  RunInfo run = sample_run(1, 0);
  run.version = "a\"b\\c\nd";
  EXPECT_THAT(metrics_text(run, Outcomes(std::vector{sample_record(1)})),
              HasSubstr(R"(version="a\"b\\c\nd")"));
}

TEST(Metrics, HaveNoRateOfWhatStandsInForADevice) {
  Record record = sample_record(1);
  record.bandwidth_bytes_per_s = 1e9;
  record.stand_in = "simulated";
  EXPECT_THAT(metrics_text(sample_run(1, 0), Outcomes(std::vector{record})),
              Not(HasSubstr("assay_bytes_per_second")));
}

}  // namespace
}  // namespace assay
