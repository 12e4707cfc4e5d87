#include "reports/compare/paired_summary.h"

#include <gtest/gtest.h>

#include <vector>

#include "reports/files/paired_json.h"

namespace assay {
namespace {

PairedCase compared(const std::string& id, PairedVerdict verdict, double ratio) {
  PairedCase one{.case_id = id, .device = "cpu", .timing = "batch", .verdict = verdict};
  one.ratio = ratio;
  one.ratio_low = ratio - 0.01;
  one.ratio_high = ratio + 0.01;
  one.rounds = 10;
  one.base_median_s = 1e-3;
  one.cand_median_s = 1e-3 * ratio;
  one.disturbed_rounds = 0;
  return one;
}

PairedCase without_times(const std::string& id, PairedVerdict verdict, const std::string& reason) {
  return {.case_id = id, .device = "cpu", .timing = "batch", .verdict = verdict, .reason = reason};
}

std::vector<PairedCase> mixed() {
  return {compared("a/equal", PairedVerdict::equivalent, 1.0),
          compared("b/slow", PairedVerdict::regressed, 1.1),
          without_times("c/wrong", PairedVerdict::wrong, "cand: fail: 3 of 4 elements wrong"),
          compared("d/slower", PairedVerdict::regressed, 1.3)};
}

/// Returns whether the words come in this order.
bool in_order(const std::string& text, const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (const std::string& word : words) {
    at = text.find(word, at);
    if (at == std::string::npos) return false;
    at += word.size();
  }
  return true;
}

TEST(PairedTable, HasTheWorstFirst) {
  const std::string table = paired_table(mixed());
  EXPECT_TRUE(
      in_order(table, {"WRONG", "c/wrong", "3 of 4 elements wrong", "REGRESSED", "d/slower",
                       "1.300", "1.290 to 1.310", "1.00 ms", "1.30 ms", "b/slow", "EQUIVALENT"}))
      << table;
}

TEST(PairedTable, GivesTheGeometricMeanOfWhatWasCompared) {
  const std::vector<PairedCase> cases{compared("a", PairedVerdict::inconclusive, 2.0),
                                      compared("b", PairedVerdict::inconclusive, 0.5),
                                      without_times("c", PairedVerdict::broken, "")};
  EXPECT_NE(paired_table(cases).find("geometric mean of 2 ratios: 1.000"), std::string::npos);
}

TEST(PairedTable, LeavesOutWhatIsEquivalentOnlyWhereThereIsMuchAndSaysSo) {
  std::vector<PairedCase> cases(50, compared("same", PairedVerdict::equivalent, 1.0));
  cases.push_back(compared("slow", PairedVerdict::regressed, 1.5));
  const std::string table = paired_table(cases);
  EXPECT_EQ(table.find("same"), std::string::npos);
  EXPECT_NE(table.find("and 50 equivalent, in ab.csv"), std::string::npos);
  EXPECT_NE(table.find("slow"), std::string::npos);
}

TEST(PairedTable, SaysHowManyRoundsWereDisturbed) {
  std::vector<PairedCase> cases{compared("a", PairedVerdict::equivalent, 1.0)};
  EXPECT_EQ(paired_table(cases).find("disturbed"), std::string::npos);
  cases[0].disturbed_rounds = 4;
  EXPECT_NE(paired_table(cases).find("4 rounds disturbed"), std::string::npos);
}

TEST(PairedVerdictLine, CountsAndSaysWhetherAllIsWell) {
  PairedInfo info{.margin = 0.02};
  EXPECT_EQ(paired_verdict(info, std::vector{compared("a", PairedVerdict::equivalent, 1)}),
            "PASSED: no confirmed regression; 1 equivalent (margin 2%)");
  EXPECT_EQ(paired_verdict(info, std::vector{compared("a", PairedVerdict::inconclusive, 1)}),
            "INCOMPLETE: no case decided; 1 inconclusive (margin 2%): this run could have seen a "
            "change of 1.1% or more");
  for (const PairedVerdict against : {PairedVerdict::wrong, PairedVerdict::missing,
                                      PairedVerdict::broken, PairedVerdict::regressed}) {
    info.exit_code = 1;
    EXPECT_TRUE(paired_verdict(info, std::vector{compared("a", PairedVerdict::equivalent, 1),
                                                 compared("b", against, 1)})
                    .starts_with("FAILED: "))
        << name(against);
  }
  EXPECT_EQ(paired_verdict(info, mixed()),
            "FAILED: 2 regressed, 1 equivalent, 1 wrong (margin 2%)");
  info.interrupted = true;
  info.exit_code = 4;
  EXPECT_EQ(paired_verdict(info, {}), "INCOMPLETE: no case was judged; interrupted (margin 2%)");
}

TEST(PairedVerdictLine, CountsInconclusiveCasesBesideOthersAndSaysNoMore) {
  const PairedInfo info{.margin = 0.02};
  EXPECT_EQ(paired_verdict(info, std::vector{compared("a", PairedVerdict::equivalent, 1),
                                             compared("b", PairedVerdict::inconclusive, 1)}),
            "PASSED: no confirmed regression; 1 equivalent, 1 inconclusive (margin 2%)");
}

TEST(PairedVerdictLine, OfOneThatWasInterruptedOrMustNotBeOpen) {
  const std::vector<PairedCase> cases{compared("a", PairedVerdict::inconclusive, 1)};
  PairedInfo info{.exit_code = 6};
  EXPECT_TRUE(paired_verdict(info, cases).starts_with("INCOMPLETE: no case decided; 1 inc"));
  EXPECT_TRUE(paired_markdown(info, cases).starts_with("# INCOMPLETE: no case decided; 1 inc"));
  info = {.margin = 0.02, .interrupted = true, .exit_code = 4};
  EXPECT_EQ(paired_verdict(info, cases), "INCOMPLETE: 1 inconclusive; interrupted (margin 2%)");
}

TEST(PairedMarkdown, IsATableThatHostileTextDoesNotBreak) {
  PairedInfo info{.host = "h|st", .exit_code = 1};
  info.base.program = "/old/assay";
  info.base.environment = {{"LD_LIBRARY_PATH", "/a`b"}};
  const std::vector<PairedCase> cases{
      without_times("x|y", PairedVerdict::wrong, "cand: fail: a | b\n| c")};
  const std::string text = paired_markdown(info, cases);
  EXPECT_TRUE(in_order(text, {"# FAILED", "/old/assay", "LD_LIBRARY_PATH", "| WRONG |"})) << text;
  EXPECT_EQ(text.find("\n| c"), std::string::npos);
}

TEST(PairedJson, LeavesOpenWhatIsNotKnownBeforeTheEnd) {
  PairedInfo info{.ended_at = "later"};
  info.cand.sim_faults = {"slow"};
  EXPECT_TRUE(in_order(paired_json(info, false),
                       {"\"ended_at\": null", "\"exit_code\": null", "\"slow\""}));
  EXPECT_TRUE(in_order(paired_json(info, true), {"\"ended_at\": \"later\"", "\"exit_code\": 0"}));
}

}  // namespace
}  // namespace assay
