// Work that a share of the samples' time pays for.
#include "harness/execute/allowance.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace assay {
namespace {

struct Series {
  double earned_s = 0;
  double spent_s = 0;
  std::vector<int> gaps;  // samples between one piece of work and the next
};

Series simulate(double share, double sample_s, double cost_s, int samples, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Allowance allowance(share, random);
  Series series;
  int last = 0;
  for (int sample = 0; sample < samples; ++sample) {
    allowance.earn(sample_s);
    series.earned_s += sample_s;
    if (!allowance.affords(cost_s)) continue;
    allowance.spend(cost_s);
    series.spent_s += cost_s;
    series.gaps.push_back(sample - last);
    last = sample;
  }
  return series;
}

TEST(Allowance, SpendsItsShareInTheLongRun) {
  for (const double share : {0.05, 0.1}) {
    for (const double cost_s : {1e-3, 1e-2, 0.3}) {
      const Series series = simulate(share, 1e-2, cost_s, 200000, 7);
      EXPECT_NEAR(series.spent_s / series.earned_s, share, 0.02 * share) << cost_s;
    }
  }
}

TEST(Allowance, NeverSpendsFarMoreThanItHasEarned) {
  std::mt19937_64 random(7);
  Allowance allowance(0.05, random);
  double earned_s = 0;
  double spent_s = 0;
  for (int sample = 0; sample < 20000; ++sample) {
    allowance.earn(1e-3);
    earned_s += 1e-3;
    if (!allowance.affords(0.01)) continue;
    allowance.spend(0.01);
    spent_s += 0.01;
    ASSERT_LE(spent_s, 0.05 * earned_s + 0.01 + 1e-9);
  }
}

TEST(Allowance, HasMomentsThatVary) {
  const Series series = simulate(0.05, 1e-3, 1e-3, 100000, 7);
  const std::set<int> gaps(series.gaps.begin(), series.gaps.end());
  EXPECT_GE(gaps.size(), 20U) << "20 samples pay for one, on average";
  EXPECT_LE(*gaps.begin(), 5) << "none is safe after one";
  EXPECT_GE(*gaps.rbegin(), 35);
  const Series other = simulate(0.05, 1e-3, 1e-3, 100000, 8);
  EXPECT_NE(series.gaps, other.gaps);
}

TEST(Allowance, AffordsNothingBeforeItHasEarned) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Allowance(0.05, random).affords(1e-6));
}

TEST(Allowance, WaitsUntilLargeWorkIsPaid) {
  const Series series = simulate(0.05, 1e-3, 1, 60000, 7);
  EXPECT_GE(series.gaps.size(), 1U);
  EXPECT_LE(series.gaps.size(), 5U);
}

}  // namespace
}  // namespace assay
