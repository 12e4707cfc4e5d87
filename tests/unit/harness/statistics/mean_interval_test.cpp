#include "harness/statistics/mean_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace assay::statistics {
namespace {

// Student: "The Probable Error of a Mean", Biometrika 6, 1908: hours of sleep that a drug added.
TEST(MeanInterval, OfAPublishedSample) {
  const std::vector<double> hours{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const Mean mean = mean_with_interval(hours);
  EXPECT_NEAR(mean.value, 2.33, 1e-12);
  EXPECT_NEAR(mean.interval->low, 0.8976775, 1e-6);
  EXPECT_NEAR(mean.interval->high, 3.7623225, 1e-6);
}

TEST(MeanInterval, OfOneValueThereIsNone) {
  EXPECT_EQ(mean_with_interval(std::vector{2.0}).value, 2);
  EXPECT_FALSE(mean_with_interval(std::vector{2.0}).interval);
}

TEST(MeanInterval, OfEqualValuesItIsAPoint) {
  const Mean mean = mean_with_interval(std::vector{2.0, 2.0, 2.0});
  EXPECT_EQ(mean.interval->low, 2);
  EXPECT_EQ(mean.interval->high, 2);
}

TEST(MeanInterval, RefusesWhatHasNoMean) {
  EXPECT_THROW(mean_with_interval({}), std::invalid_argument);
  EXPECT_THROW(mean_with_interval(std::vector{1.0, std::nan("")}), std::invalid_argument);
  EXPECT_THROW(mean_with_interval(std::vector{1.0, std::numeric_limits<double>::infinity()}),
               std::invalid_argument);
}

}  // namespace
}  // namespace assay::statistics
