#include "reports/compare/comparison_report.h"

#include <gtest/gtest.h>

#include "tests/unit/reports_support.h"
#include "tests/unit/stored_trials_support.h"

namespace assay {
namespace {

using namespace testing_support;

/// A report on two runs of these rows.
class Report {
 public:
  Report(const std::string& base_rows, const std::string& cand_rows, ComparisonOptions how = {})
      : how_(std::move(how)), base_(stored(base_rows)), cand_(stored(cand_rows)) {
    run_.run.directory = "runs/a";
    run_.run.started_at = "2024-01-31T12:00:00.000Z";
    run_.run.planned = 1;
  }
  ComparisonFacts facts() { return {run_, run_, *base_, *cand_, none_, comparison_, how_}; }
  std::string text() { return sections_text(comparison_sections(facts())); }
  std::string markdown() { return sections_markdown(comparison_sections(facts())); }

 private:
  ComparisonOptions how_;
  EndedRun run_;
  std::unique_ptr<StoredTrials> base_;
  std::unique_ptr<StoredTrials> cand_;
  std::vector<Difference> none_;
  Comparison comparison_ = compare_trials(*base_, *cand_, how_);
};

std::string rows(int count, const std::string& status) {
  std::string text;
  for (int i = 0; i < count; ++i) text += judged_row(fmt::format("case-{:02},cpu,", i), status);
  return text;
}

TEST(ComparisonReport, LongListsAreCutAndSaySo) {
  Report report(rows(25, "pass"), rows(25, "fail"));
  EXPECT_NE(report.text().find("No longer passing: 25\n"), std::string::npos);
  EXPECT_NE(report.text().find("case-19"), std::string::npos);
  EXPECT_EQ(report.text().find("case-20"), std::string::npos);
  EXPECT_NE(report.text().find("and 5 more: --all lists them"), std::string::npos);
  EXPECT_NE(report.markdown().find("\nand 5 more: --all lists them"), std::string::npos);
}

TEST(ComparisonReport, SuspectsComeWorstFirstWithTheCommandThatConfirmsThem) {
  Report report(timed_row("b,cpu,batch", 1) + timed_row("a,cpu,batch", 1) +
                    timed_row("c,cpu,cold", 1) + timed_row("d,cpu,batch", 1),
                timed_row("b,cpu,batch", 2) + timed_row("a,cpu,batch", 3) +
                    timed_row("c,cpu,cold", 1.5) + timed_row("d,cpu,batch", 1));
  const std::string text = report.text();
  EXPECT_NE(text.find("Suspects, slower: 3\n"), std::string::npos);
  EXPECT_NE(text.find("these are suspects, no verdicts"), std::string::npos);
  EXPECT_LT(text.find("  a     cpu batch  3.000"), text.find("  b     cpu batch  2.000"));
  EXPECT_NE(text.find("  assay ab --base BASE_ASSAY --cand CAND_ASSAY --device cpu --case a "
                      "--case b\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("--device cpu --timing cold --case c\n"), std::string::npos) << text;
  EXPECT_EQ(comparison_summary(report.facts()),
            "compare: 0 no longer pass, 0 missing, 0 new, 0 mended, 0 pass in neither, 4 "
            "unchanged; 4 timed in both: 3 slower, 0 faster, 1 within 5%, 0 unclear");
}

TEST(ComparisonReport, TrialsWithoutAnIntervalAreUnclearAndSayWhy) {
  Report report("x,cpu,batch,1,1,pass,,,1,,,,\n" + timed_row("y,cpu,batch", 1),
                timed_row("x,cpu,batch", 9) + timed_row("y,cpu,batch", 1));
  EXPECT_TRUE(comparison_summary(report.facts())
                  .ends_with("1 within 5%, 1 unclear (1 of them for too few samples)"))
      << comparison_summary(report.facts());
}

TEST(ComparisonReport, ARatioFarFromOneIsNotRoundedToNothing) {
  Report report(timed_row("x,cpu,batch", 106e-3), timed_row("x,cpu,batch", 5.13e-6));
  EXPECT_NE(report.text().find("  0.00004840  0.00004744 to 0.00004937  "), std::string::npos)
      << report.text();
  Report machines(timed_row("x,cpu,batch", 106e-3), timed_row("x,cpu,batch", 5.13e-6),
                  {.hardware = true});
  EXPECT_NE(machines.text().find("0.00004840"), std::string::npos) << machines.text();
  EXPECT_EQ(machines.text().find("0.000 "), std::string::npos) << machines.text();
}

TEST(ComparisonReport, DisturbedFiguresAreMarked) {
  Report report("x,cpu,batch,1,1,pass,,,1,0.99,1.01,true,\n",
                "x,cpu,batch,1,1,pass,,,2,1.99,2.01,false,true\n");
  EXPECT_NE(report.text().find("base contended, cand throttled"), std::string::npos);
}

TEST(ComparisonReport, NewAndBadTrialsComeFirst) {
  Report report(judged_row("x,cpu,", "pass"), judged_row("x,cpu,", "pass") +
                                                  judged_row("good,cpu,", "pass") +
                                                  judged_row("bad,cpu,", "fail", "why"));
  EXPECT_LT(report.text().find("bad "), report.text().find("good "));
  EXPECT_NE(comparison_summary(report.facts()).find("2 new (1 of them bad)"), std::string::npos);
}

TEST(ComparisonReport, OfMachinesItGivesGeometricMeansAndNoSuspects) {
  Report report(timed_row("x,cpu,batch", 1) + timed_row("y,cpu,batch", 1),
                timed_row("x,cpu,batch", 2) + timed_row("y,cpu,batch", 8), {.hardware = true});
  const std::string text = report.text();
  EXPECT_NE(text.find("cpu batch       2           4.000  2.000  8.000"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("uspect"), std::string::npos);
  EXPECT_EQ(text.find("assay ab"), std::string::npos);
  EXPECT_LT(text.find("8.000  1.00 s"), text.find("2.000  1.00 s")) << text;
}

TEST(ComparisonReport, TextOfOthersStaysOnItsLine) {
  Report report(judged_row("x,cpu,", "pass"), judged_row("x,cpu,", "fail", "\"two\n| lines\""));
  EXPECT_NE(report.text().find("two | lines"), std::string::npos);
  EXPECT_NE(report.markdown().find("two \\| lines"), std::string::npos);
}

/// A row that passed and left these bits.
std::string hashed_row(const std::string& case_id, const std::string& hash,
                       const std::string& by = "library 1") {
  return case_id + ",linear,linear,f64,cpu,,1,1,pass,,,,,," + "," + hash + "," + by + "\n";
}

TEST(ComparisonReport, OtherBitsAreCountedByOpWhereTheInputsWereTheSame) {
  const std::string header =
      "case_id,suite,op,dtype,device,timing,attempt,repeat,status,reason,expected_failure,"
      "time_median_s,time_ci_low_s,time_ci_high_s,contended,output_hash,implementation\n";
  const auto read = [&](const std::string& rows) {
    std::istringstream text(header + rows);
    return std::make_unique<StoredTrials>(text, "r.csv");
  };
  const auto base = read(hashed_row("a", "1f") + hashed_row("b", "2f") + hashed_row("c", "") +
                         hashed_row("d", "5f") + hashed_row("e", "6f"));
  const auto cand = read(hashed_row("a", "1f") + hashed_row("b", "3f") + hashed_row("c", "4f") +
                         hashed_row("d", "7f", "library 2") + hashed_row("e", "6f", "library 2"));
  EndedRun run;
  const std::vector<Difference> none;
  for (const bool same_seed : {true, false}) {
    const ComparisonOptions how{.same_seed = same_seed};
    const Comparison comparison = compare_trials(*base, *cand, how);
    const ComparisonFacts facts{run, run, *base, *cand, none, comparison, how};
    const std::string text = sections_text(comparison_sections(facts));
    const std::string summary = comparison_summary(facts);
    EXPECT_EQ(text.find("Other bits, both right: 1\n") != std::string::npos, same_seed) << text;
    EXPECT_EQ(text.find("linear/linear  f64    cpu      2           1  b") != std::string::npos,
              same_seed)
        << text;
    EXPECT_EQ(
        text.find("Other bits by another implementation, both right: 1\n") != std::string::npos,
        same_seed)
        << text;
    EXPECT_EQ(text.find("linear/linear  f64    cpu      2           1  d") != std::string::npos,
              same_seed)
        << text;
    EXPECT_EQ(summary.find("; 2 of 4 left other bits, 1 of them by another implementation;") !=
                  std::string::npos,
              same_seed)
        << summary;
    EXPECT_EQ(comparison.trials.back().same_bits, same_seed ? std::optional(true) : std::nullopt);
  }
}

}  // namespace
}  // namespace assay
