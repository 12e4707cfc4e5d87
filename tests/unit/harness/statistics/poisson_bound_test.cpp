#include "harness/statistics/poisson_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace assay::statistics {
namespace {

/// One-sided 95% limits, as tables of Poisson limits give them.
TEST(PoissonBound, AgreesWithPublishedValues) {
  EXPECT_NEAR(poisson_upper_bound(0, 0.95), 2.996, 5e-4);
  EXPECT_NEAR(poisson_upper_bound(1, 0.95), 4.744, 5e-4);
  EXPECT_NEAR(poisson_upper_bound(2, 0.95), 6.296, 5e-4);
  EXPECT_NEAR(poisson_upper_bound(3, 0.95), 7.754, 5e-4);
  EXPECT_NEAR(poisson_upper_bound(10, 0.95), 16.962, 5e-4);
}

TEST(PoissonBound, IsTheRuleOfThreeWithoutEvents) {
  EXPECT_DOUBLE_EQ(poisson_upper_bound(0, 0.95), -std::log(0.05));
  EXPECT_NEAR(poisson_upper_bound(0, 0.99), 4.605, 5e-4);
}

TEST(PoissonBound, MakesTheSeenCountAsUnlikelyAsItSays) {
  for (const int events : {0, 1, 5, 40}) {
    const double mean = poisson_upper_bound(events, 0.95);
    double probability = 0;  // of `events` or fewer
    for (int k = 0; k <= events; ++k) {
      probability += std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
    }
    EXPECT_NEAR(probability, 0.05, 1e-9) << events;
  }
}

TEST(PoissonBound, RefusesANegativeCount) {
  EXPECT_THROW(poisson_upper_bound(-1, 0.95), std::invalid_argument);
}

}  // namespace
}  // namespace assay::statistics
