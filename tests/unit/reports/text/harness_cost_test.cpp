#include "reports/text/harness_cost.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

Record timed(double launch_s, std::int64_t launches, double empty_s, double between_s) {
  Record record;
  record.time_median_s = launch_s;
  record.launches_per_sample = launches;
  record.empty_sample_s = empty_s;
  record.between_samples_s = between_s;
  return record;
}

TEST(HarnessCost, IsAShareOfASampleAndNotOfALaunch) {
  const std::vector<Record> trials{timed(1e-7, 200, 40e-9, 2e-6)};
  EXPECT_EQ(harness_cost(trials),
            "reading the clock takes 40.0 ns of a sample, 0.2% of it (worst 0.2%); 2.00 µs pass "
            "between two");
}

TEST(HarnessCost, TellsTheMedianTrialAndTheWorst) {
  const std::vector<Record> trials{timed(1e-3, 1, 40e-9, 1e-6), timed(1e-5, 2, 50e-9, 3e-6),
                                   timed(1e-6, 1, 60e-9, 2e-6)};
  EXPECT_EQ(harness_cost(trials),
            "reading the clock takes 50.0 ns of a sample, 0.25% of it (worst 6%); 2.00 µs pass "
            "between two");
}

TEST(HarnessCost, IsNothingWhereNothingWasTimed) {
  EXPECT_EQ(harness_cost({}), "");
  EXPECT_EQ(harness_cost(std::vector<Record>(3)), "");
}

}  // namespace
}  // namespace assay
