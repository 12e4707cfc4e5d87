#include "reports/compare/comparison.h"

#include <gtest/gtest.h>

#include "tests/unit/reports_support.h"
#include "tests/unit/stored_trials_support.h"

namespace assay {
namespace {

using namespace testing_support;

Change change_between(const std::string& base_end, const std::string& cand_end) {
  const auto base = stored("x,cpu,,1,1," + base_end + ",,,,,\n");
  const auto cand = stored("x,cpu,,1,1," + cand_end + ",,,,,\n");
  return compare_trials(*base, *cand, {}).trials.front().change;
}

ComparedTrial of_times(double base_s, double cand_s, double spread = 0.001,
                       const ComparisonOptions& options = {}) {
  const auto base = stored(timed_row("x,cpu,batch", base_s, spread));
  const auto cand = stored(timed_row("x,cpu,batch", cand_s, spread));
  ComparedTrial trial = compare_trials(*base, *cand, options).trials.front();
  trial.base = trial.cand = nullptr;  // gone with their owners
  return trial;
}

TEST(Comparison, NamesEachChange) {
  const std::string pass = "pass,,";
  const std::string fail = "fail,bad,";
  const std::string known = "fail,bad,issue 7";
  const std::string skip = "skip,none,";
  const std::string crash = "crash,died,";
  const std::string flaky = "flaky,once,";
  EXPECT_EQ(change_between(pass, pass), Change::unchanged);
  EXPECT_EQ(change_between(skip, skip), Change::unchanged);
  EXPECT_EQ(change_between(known, known), Change::unchanged) << "known, and still known";
  for (const std::string& worse : {fail, known, skip, crash, flaky}) {
    EXPECT_EQ(change_between(pass, worse), Change::lost) << worse;
    EXPECT_EQ(change_between(worse, pass), Change::mended) << worse;
  }
  EXPECT_EQ(change_between(skip, fail), Change::lost) << "no failure before";
  EXPECT_EQ(change_between(known, fail), Change::lost) << "not accepted any more";
  EXPECT_EQ(change_between(fail, fail), Change::unmended);
  EXPECT_EQ(change_between(fail, crash), Change::unmended);
  EXPECT_EQ(change_between(flaky, fail), Change::unmended);
  EXPECT_EQ(change_between(fail, skip), Change::unmended);
  EXPECT_EQ(change_between(skip, known), Change::unmended);
}

TEST(Comparison, WorseIsWhatIsLostMissingOrNewAndBad) {
  const auto base = stored(judged_row("kept,cpu,", "pass") + judged_row("gone,cpu,", "pass") +
                           judged_row("skipped,cpu,", "skip") + judged_row("bad,cpu,", "fail"));
  const auto cand = stored(judged_row("kept,cpu,", "pass") + judged_row("new,cpu,", "pass") +
                           judged_row("broken,cpu,", "crash"));
  const Comparison comparison = compare_trials(*base, *cand, {});
  std::vector<std::string> worse;
  for (const ComparedTrial& trial : comparison.trials) {
    if (trial.is_worse()) worse.emplace_back(trial.either().case_id);
  }
  EXPECT_EQ(worse, (std::vector<std::string>{"gone", "bad", "broken"}));
  EXPECT_TRUE(comparison.is_worse());
  EXPECT_EQ(comparison.count(Change::missing), 3U);
  EXPECT_EQ(comparison.count(Change::added), 2U);
  EXPECT_EQ(comparison.count(Change::unchanged), 1U);
}

TEST(Comparison, WhereNothingIsInCommonNothingIsMissing) {
  const auto base = stored(judged_row("x,cpu,", "pass"));
  const auto elsewhere = stored(judged_row("x,sim:0,", "pass"));
  const auto other = compare_trials(*base, *elsewhere, {});
  EXPECT_FALSE(other.is_worse());
  EXPECT_FALSE(other.compares_anything());
  const auto bad = stored(judged_row("y,cpu,", "fail"));
  EXPECT_TRUE(compare_trials(*base, *bad, {}).is_worse()) << "new and bad";
}

TEST(Comparison, WhatStoodForADeviceHasNoSpeed) {
  std::string text = stored_header + timed_row("x,cpu,batch", 1);
  text.insert(text.find('\n'), ",stand_in");
  text.insert(text.rfind('\n'), ",simulated");
  std::istringstream stream(text);
  const auto base = std::make_unique<StoredTrials>(stream, "r.csv");
  const auto cand = stored(timed_row("x,cpu,batch", 2));
  for (const auto& trial : compare_trials(*base, *cand, {}).trials) {
    EXPECT_EQ(trial.speed, Speed::none);
    EXPECT_EQ(trial.ratio.value, 0);
  }
  EXPECT_EQ(compare_trials(*cand, *base, {}).trials.front().speed, Speed::none);
}

TEST(Comparison, SkipsAreNothingCompared) {
  const auto base = stored(judged_row("x,cpu,", "skip") + judged_row("y,cpu,", "pass"));
  const auto cand = stored(judged_row("x,cpu,", "skip"));
  EXPECT_FALSE(compare_trials(*base, *cand, {}).compares_anything());
  EXPECT_TRUE(compare_trials(*base, *base, {}).compares_anything());
}

TEST(Comparison, ASuspectIsBeyondTheMarginWithItsWholeInterval) {
  EXPECT_EQ(of_times(1, 1.06).speed, Speed::slower);
  EXPECT_EQ(of_times(1, 1.051).speed, Speed::unclear) << "the interval reaches below 1.05";
  EXPECT_EQ(of_times(1, 1.04).speed, Speed::within);
  EXPECT_EQ(of_times(1, 1.06, 0.001, {.margin = 0.1}).speed, Speed::within);
  EXPECT_EQ(of_times(1, 1.06, 0.05).speed, Speed::unclear);
  EXPECT_EQ(of_times(1.06, 1).speed, Speed::faster);
  EXPECT_EQ(of_times(1.04, 1).speed, Speed::within);
}

TEST(Comparison, TheIntervalOfTheRatioIsThatOfItsEnds) {
  const Ratio ratio = of_times(2, 3, 0.1).ratio;
  EXPECT_DOUBLE_EQ(ratio.value, 1.5);
  EXPECT_DOUBLE_EQ(ratio.low, 2.7 / 2.2);
  EXPECT_DOUBLE_EQ(ratio.high, 3.3 / 1.8);
}

TEST(Comparison, SidesChangedGiveTheMirrorImage) {
  for (const double cand_s : {0.5, 0.95, 1.0, 1.02, 1.051, 1.2}) {
    const Speed there = of_times(1, cand_s).speed;
    const Speed back = of_times(cand_s, 1).speed;
    EXPECT_EQ(there == Speed::slower, back == Speed::faster) << cand_s;
    EXPECT_EQ(there == Speed::within, back == Speed::within) << cand_s;
  }
}

TEST(Comparison, TimesAreOfWhatIsRightAndRealInBoth) {
  const auto speed = [](const std::string& base, const std::string& cand) {
    const auto a = stored(base);
    const auto b = stored(cand);
    const Comparison comparison = compare_trials(*a, *b, {});
    EXPECT_FALSE(comparison.trials.front().has_ratio());
    return comparison.trials.front().speed;
  };
  const std::string slow = timed_row("x,cpu,batch", 9);
  EXPECT_EQ(speed(judged_row("x,cpu,batch", "pass"), slow), Speed::none);
  EXPECT_EQ(speed(judged_row("x,cpu,batch", "fail"), slow), Speed::none);
  const std::string one_of_two_is_wrong = slow + "x,cpu,batch,1,2,fail,bad,,,,,,\n";
  EXPECT_EQ(speed(timed_row("x,cpu,batch", 1), one_of_two_is_wrong), Speed::none);
}

TEST(Comparison, WithoutAnIntervalNothingIsSuspectedAndNothingClear) {
  const auto base = stored("x,cpu,batch,1,1,pass,,,1,,,,\n");
  const auto cand = stored(timed_row("x,cpu,batch", 9));
  const ComparedTrial trial = compare_trials(*base, *cand, {}).trials.front();
  EXPECT_EQ(trial.ratio.value, 9);
  EXPECT_EQ(trial.speed, Speed::unclear);
}

TEST(Comparison, BetweenMachinesThereAreRatiosAndNoSuspects) {
  const ComparedTrial trial = of_times(1, 9, 0.001, {.hardware = true});
  EXPECT_EQ(trial.ratio.value, 9);
  EXPECT_EQ(trial.speed, Speed::none);
}

TEST(Comparison, DevicesArePairedUnderOtherIds) {
  const auto base = stored(timed_row("x,cuda:0,batch", 1));
  const auto cand = stored(timed_row("x,cuda:3,batch", 2));
  EXPECT_FALSE(compare_trials(*base, *cand, {}).any_in_common);
  const auto paired = compare_trials(*base, *cand, {.other_ids = {{"cuda:0", "cuda:3"}}});
  ASSERT_EQ(paired.trials.size(), 1U);
  EXPECT_EQ(paired.trials.front().ratio.value, 2);
}

TEST(Comparison, AFileOf50000RowsIsComparedRowByRow) {
  const auto rows = [](bool is_cand) {
    std::string text;
    for (int i = 0; i < 50'000; ++i) {
      if (is_cand && i % 1000 == 1) continue;
      const std::string key = fmt::format("case-{},cpu,batch", i);
      const bool is_bad = is_cand && i % 1000 == 2;
      const bool is_slow = is_cand && i % 1000 == 3;
      text += is_bad ? judged_row(key, "fail", "bad") : timed_row(key, is_slow ? 2 : 1);
    }
    return text;
  };
  const auto base = stored(rows(false));
  const auto cand = stored(rows(true));
  const Comparison comparison = compare_trials(*base, *cand, {});
  ASSERT_EQ(comparison.trials.size(), 50'000U);
  for (int i = 0; i < 50'000; ++i) {
    const ComparedTrial& trial = comparison.trials[static_cast<std::size_t>(i)];
    ASSERT_EQ(trial.either().case_id, fmt::format("case-{}", i));
    ASSERT_EQ(trial.change, i % 1000 == 1   ? Change::missing
                            : i % 1000 == 2 ? Change::lost
                                            : Change::unchanged);
    ASSERT_EQ(trial.speed == Speed::slower, i % 1000 == 3);
  }
}

}  // namespace
}  // namespace assay
