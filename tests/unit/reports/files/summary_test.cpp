#include "reports/files/summary.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;
using ::testing::IsNotSubstring;
using ::testing::IsSubstring;

TEST(Summary, AnEmptyRunIsNotGreen) {
  const std::string text = summary_markdown(sample_run(0, 3), Outcomes());
  EXPECT_TRUE(
      text.starts_with("## assay: INCOMPLETE\n\n**INCOMPLETE**: nothing ran (exit code 3).\n"))
      << text;
  EXPECT_PRED_FORMAT2(IsNotSubstring, "PASSED", text);
  EXPECT_PRED_FORMAT2(IsNotSubstring, "|", text);
}

TEST(Summary, ARunOfSkipsIsNotGreen) {
  Record skipped = sample_record(1, Status::skip);
  skipped.reason = "too few devices: 1 of 2";
  const std::string text = summary_markdown(sample_run(1, 3), Outcomes(std::vector{skipped}));
  EXPECT_TRUE(text.starts_with("## assay: INCOMPLETE\n")) << text;
  EXPECT_PRED_FORMAT2(IsSubstring, "too few devices", text);
}

TEST(Summary, IsExactlyThisForAPassingRun) {
  std::vector<Record> records{sample_record(1), sample_record(2), sample_record(3)};
  records[0].bandwidth_bytes_per_s = 1e9;
  records[1].bandwidth_bytes_per_s = 4.2e10;
  records[1].time_median_s = 2.5e-5;
  records[1].fraction_of_limit = 0.874;
  records[1].throttled = true;
  records[2].bandwidth_bytes_per_s = std::numeric_limits<double>::infinity();
  RunInfo run = sample_run(3, 0);
  run.profile = "smoke";
  run.directory = "assay-runs/a b";
  EXPECT_EQ(summary_markdown(run, Outcomes(records)),
            R"(## assay: PASSED

**PASSED**: 3 right (exit code 0).

3 pass; 3 planned; seed 1; profile `smoke`; host node7; version 1.0.0

| suite | device | pass | wrong | broken | skip |
| :-- | :-- | --: | --: | --: | --: |
| copy | `cpu` | 3 | 0 | 0 | 0 |

| suite | best case | device | median time | rate | of limit |
| :-- | :-- | :-- | --: | --: | --: |
| copy | `copy/f32/n=2` | `cpu` | 25.0 µs (throttled) | 42.0 GB/s | 87% |

Every row is in `assay-runs/a b/results.csv`; all of it on a page: `assay report 'assay-runs/a b' -o report.html`.

)");
}

TEST(Summary, ShowsTheWorstThreeOfEachStatusWithReasonAndReplay) {
  std::vector<Record> records;
  for (int n = 1; n <= 5; ++n) {
    records.push_back(sample_record(n, Status::fail));
    records.back().max_bound_ratio = n;
    records.back().reason = fmt::format("{}|{} elements wrong\nworst at [7]", n, 100);
  }
  records.push_back(sample_record(9, Status::crash));
  records.push_back(sample_record(10));
  const std::string text = summary_markdown(sample_run(7, 1), Outcomes(records));
  EXPECT_TRUE(
      text.starts_with("## assay: FAILED\n\n**FAILED**: 5 wrong, 1 crashed; 1 right (exit code 1)"))
      << text;
  EXPECT_PRED_FORMAT2(IsSubstring, "1 pass, 5 fail, 1 crash; 7 planned", text);
  EXPECT_PRED_FORMAT2(IsSubstring, "| copy | `cpu` | 1 | 5 | 1 | 0 |", text);
  EXPECT_PRED_FORMAT2(IsSubstring, R"(### fail: 5

- `copy/f32/n=5` on `cpu`, batch: 5|100 elements wrong worst at \[7\]; 5 times the allowed error
  `assay run --case copy/f32/n=5 --device cpu`
- `copy/f32/n=4` on `cpu`, )",
                      text);
  EXPECT_PRED_FORMAT2(IsSubstring, "- `copy/f32/n=3`", text);
  EXPECT_PRED_FORMAT2(IsNotSubstring, "- `copy/f32/n=2`", text);
  EXPECT_PRED_FORMAT2(IsSubstring, "- and 2 more in `results.csv`", text);
  EXPECT_PRED_FORMAT2(IsSubstring,
                      "### crash: 1\n\n- `copy/f32/n=9` on `cpu`, batch: no reason given\n", text);
}

TEST(Summary, OfWhatHadToBeExactItSaysThatNothingWasAllowed) {
  Record wrong = sample_record(1, Status::fail);
  wrong.reason = "1 of 4 elements wrong";
  wrong.mismatches = 1;
  wrong.worst_allowed = 0;
  const std::string text = summary_markdown(sample_run(1, 1), Outcomes(std::vector{wrong}));
  EXPECT_PRED_FORMAT2(IsSubstring, "1 of 4 elements wrong; allowed: none (exact)\n", text);
}

TEST(Summary, SaysLastWhereTheTimeWent) {
  RunInfo run = sample_run(1, 0);
  EXPECT_PRED_FORMAT2(IsNotSubstring, "time:", summary_markdown(run, Outcomes()));
  run.wall_s = 20;
  run.phases.sampling = 15;
  run.phases.other = 5;
  const std::string text = summary_markdown(run, Outcomes(std::vector{sample_record(1)}));
  EXPECT_TRUE(text.ends_with("\n\ntime: 20 s = sampling 75%, other 25%\n\n")) << text;
}

TEST(Summary, RatesAreOfVerifiedResultsOnly) {
  std::vector<Record> records{sample_record(1), sample_record(2, Status::fail)};
  records[0].flops_per_s = 1e12;
  records[1].flops_per_s = 9e12;
  const std::string text = summary_markdown(sample_run(2, 1), Outcomes(records));
  EXPECT_PRED_FORMAT2(IsSubstring, "1.00 TFLOP/s", text);
  EXPECT_PRED_FORMAT2(IsNotSubstring, "9.00 TFLOP/s", text);
}

TEST(Summary, ACollectiveIsRatedByItsBusBandwidth) {
  Record record = sample_record(1);
  record.algbw_bytes_per_s = 1e9;
  EXPECT_PRED_FORMAT2(IsSubstring, "1.00 GB/s",
                      summary_markdown(sample_run(1, 0), Outcomes(std::vector{record})));
  record.busbw_bytes_per_s = 1.5e9;
  EXPECT_PRED_FORMAT2(IsSubstring, "1.50 GB/s",
                      summary_markdown(sample_run(1, 0), Outcomes(std::vector{record})));
}

TEST(Summary, EscapesPipesInTables) {
  Record record = sample_record(1);
  record.device = "a|b";
  const std::string text = summary_markdown(sample_run(1, 0), Outcomes(std::vector{record}));
  EXPECT_PRED_FORMAT2(IsSubstring, "| `a\\|b` |", text);
}

}  // namespace
}  // namespace assay
