#include "harness/ab/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/core/status.h"

namespace assay::ab {
namespace {

/// Rounds in which the candidate takes `ratio` of the base's time, spread evenly by +-`spread`.
std::vector<double> rounds(int count, double ratio, double spread) {
  std::vector<double> log_ratios;
  for (int i = 0; i < count; ++i) {
    const double place = (i + 0.5) / count * 2 - 1;  // from -1 to 1
    log_ratios.push_back(std::log(ratio) + spread * place);
  }
  return log_ratios;
}

PairedVerdict screened(double ratio, double spread) {
  PairedCase result;
  judge_screen(Rule{}, rounds(10, ratio, spread), result);
  return result.verdict;
}

PairedVerdict confirmed(const Rule& rule, const std::vector<double>& log_ratios) {
  PairedCase result;
  judge_confirm(rule, log_ratios, result);
  PairedCase* const suspects[] = {&result};
  judge_suspects(rule, suspects);
  return result.verdict;
}

TEST(AbJudge, TakesItsVerdictsFromTheInterval) {
  EXPECT_EQ(screened(1.0, 0.005), PairedVerdict::equivalent);
  EXPECT_EQ(screened(0.9, 0.02), PairedVerdict::improved);
  EXPECT_EQ(screened(1.0, 0.1), PairedVerdict::inconclusive);
  EXPECT_EQ(screened(0.98, 0.005), PairedVerdict::inconclusive);  // across the margin
}

TEST(AbJudge, ScreensOnlySuspectsAndNeverCondemns) {
  PairedCase slow;
  EXPECT_TRUE(judge_screen(Rule{}, rounds(10, 1.2, 0.02), slow));
  EXPECT_EQ(slow.verdict, PairedVerdict::inconclusive);
  EXPECT_EQ(slow.stage, screen_stage);
  PairedCase equal;
  EXPECT_FALSE(judge_screen(Rule{}, rounds(10, 1.0, 0.02), equal));
  PairedCase within_margin;
  EXPECT_FALSE(judge_screen(Rule{}, rounds(10, 1.015, 0.002), within_margin));
}

TEST(AbJudge, ConfirmsWhatIsSlowerThanTheMargin) {
  const Rule rule;
  EXPECT_EQ(confirmed(rule, rounds(40, 1.05, 0.02)), PairedVerdict::regressed);
  EXPECT_EQ(confirmed(rule, rounds(40, 1.015, 0.003)), PairedVerdict::equivalent);
  EXPECT_EQ(confirmed(rule, rounds(40, 1.02, 0.05)), PairedVerdict::inconclusive);
  Rule wide = rule;
  wide.margin = 0.06;
  EXPECT_EQ(confirmed(wide, rounds(40, 1.05, 0.02)), PairedVerdict::equivalent);
}

TEST(AbJudge, GivesTheRatioAndItsInterval) {
  PairedCase result;
  judge_confirm(Rule{}, rounds(40, 1.25, 0.02), result);
  EXPECT_NEAR(*result.ratio, 1.25, 1e-9);
  EXPECT_LT(*result.ratio_low, 1.25);
  EXPECT_GT(*result.ratio_high, 1.25);
  EXPECT_GT(*result.ratio_low, 1.24);
  EXPECT_EQ(result.rounds, 40);
  EXPECT_EQ(result.stage, confirm_stage);
}

TEST(AbJudge, AsksMoreOfOneAmongManySuspects) {
  // p is below 5%, which confirms a single comparison, but not below a tenth of that.
  const Rule rule;
  std::vector<double> weak;
  for (int i = 0; i < 40; ++i)
    weak.push_back(std::log1p(rule.margin) + (i % 6 == 0 ? -0.02 : 0.0145));
  EXPECT_EQ(confirmed(rule, weak), PairedVerdict::regressed);
  std::vector<PairedCase> cases(10);
  std::vector<PairedCase*> suspects;
  for (PairedCase& one : cases) {
    judge_confirm(rule, weak, one);
    suspects.push_back(&one);
  }
  judge_suspects(rule, suspects);
  for (const PairedCase& one : cases) {
    EXPECT_LT(*one.p_confirm, rule.confirm_p);
    EXPECT_GE(*one.p_holm, rule.confirm_p);
    EXPECT_NE(one.verdict, PairedVerdict::regressed);
  }
}

// Applies the whole rule to simulated rounds of equal builds with heavy tails: fewer false alarms
// than Holm's 5% of comparisons allow. A binomial bound keeps the fixed seed from deciding
// anything.
TEST(AbJudge, RaisesFewFalseAlarmsOverManyComparisons) {
  std::mt19937_64 random(7);
  std::student_t_distribution<double> noise(2);
  Rule rule;
  rule.margin = 0;  // the hardest: equal builds lie on the margin
  int with_alarm = 0;
  constexpr int comparisons = 200;
  for (int comparison = 0; comparison < comparisons; ++comparison) {
    std::vector<PairedCase> cases(30);
    std::vector<PairedCase*> suspects;
    const auto draw = [&](int count) {
      std::vector<double> d;
      for (int i = 0; i < count; ++i) d.push_back(0.01 * noise(random));
      return d;
    };
    for (PairedCase& one : cases) {
      if (judge_screen(rule, draw(rule.screen_rounds), one)) suspects.push_back(&one);
    }
    for (PairedCase* suspect : suspects) judge_confirm(rule, draw(rule.confirm_rounds), *suspect);
    judge_suspects(rule, suspects);
    for (const PairedCase* suspect : suspects) {
      if (suspect->verdict == PairedVerdict::regressed) {
        ++with_alarm;
        break;
      }
    }
  }
  EXPECT_LE(with_alarm, 20);  // 200 at 5% each exceed 20 with a probability of 0.1%
}

TEST(AbRule, RefusesAMarginThatIsNone) {
  for (const double margin : {std::nan(""), -0.01, std::numeric_limits<double>::infinity()}) {
    Rule rule;
    rule.margin = margin;
    EXPECT_THROW(check(rule, 1), UsageError) << margin;
  }
}

TEST(AbRule, RefusesFewerRoundsThanItsTestsNeed) {
  EXPECT_NO_THROW(check(Rule{}, 1000));
  Rule few;
  few.screen_rounds = 5;  // 2^-5 is below 15%, but no 95% interval has five differences
  EXPECT_THROW(check(few, 1), UsageError);
  Rule weak;
  weak.confirm_rounds = 10;
  EXPECT_NO_THROW(check(weak, 51));  // 0.05 / 51 > 2^-10
  EXPECT_THROW(check(weak, 52), UsageError);
}

}  // namespace
}  // namespace assay::ab
