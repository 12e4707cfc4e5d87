#include "reports/compare/visible_change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay {
namespace {

PairedCase open(double low, double ratio, double high) {
  PairedCase one{.case_id = "a", .verdict = PairedVerdict::inconclusive};
  one.ratio = ratio;
  one.ratio_low = low;
  one.ratio_high = high;
  one.margin = 0.02;
  return one;
}

PairedCase without_interval() { return {.case_id = "a", .verdict = PairedVerdict::inconclusive}; }

TEST(VisibleChange, IsTheMarginAndTheLongerArmOfTheInterval) {
  EXPECT_NEAR(visible_change(open(0.95, 1, 1.1)), 1.02 * 1.1 - 1, 1e-12);
  EXPECT_NEAR(visible_change(open(0.8, 1, 1.1)), 1.02 / 0.8 - 1, 1e-12);
  EXPECT_NEAR(visible_change(open(1.9, 2, 2.1)), 1.02 * 2 / 1.9 - 1, 1e-12);
  EXPECT_FALSE(std::isfinite(visible_change(without_interval())));
}

TEST(VisibleChange, HasTwoDigitsAndNeverFewerPercentThanTheIntervalsShow) {
  const auto text = [](double change) {
    return visible_changes_text(std::vector{open(1, 1, (1 + change) / 1.02)});
  };
  EXPECT_EQ(text(0.0701), "this run could have seen a change of 7.1% or more");
  EXPECT_EQ(text(0.07), "this run could have seen a change of 7% or more");
  EXPECT_EQ(text(0.2201), "this run could have seen a change of 23% or more");
  EXPECT_EQ(text(4), "this run could have seen a change of 400% or more");
}

TEST(VisibleChange, OfSeveralCasesIsThatOfHalfOfThemAndOfAll) {
  const PairedCase fine = open(1, 1, 1.07 / 1.02);
  const PairedCase coarse = open(1, 1, 1.22 / 1.02);
  EXPECT_EQ(visible_changes_text(std::vector{coarse, fine}),
            "this run could have seen changes of 7% or more in half of the cases, 22% in all");
  EXPECT_EQ(visible_changes_text(std::vector{coarse, coarse, fine}),
            "this run could have seen changes of 22% or more in all cases");
  EXPECT_EQ(visible_changes_text(std::vector{fine, without_interval()}),
            "this run could have seen changes of 7% or more in 1 of 2 cases");
  EXPECT_EQ(visible_changes_text(std::vector{without_interval()}),
            "this run could have seen no change");
}

TEST(VisibleChange, IsToldOfInconclusiveCasesAlone) {
  PairedCase equal = open(0.99, 1, 1.01);
  equal.verdict = PairedVerdict::equivalent;
  EXPECT_EQ(visible_changes_text(std::vector{equal}), "");
}

}  // namespace
}  // namespace assay
