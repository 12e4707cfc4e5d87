#include "harness/records/soak_row.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(SoakRow, HasNoRatesForAnIntervalWithoutWork) {
  Result crash;
  crash.record.status = Status::crash;
  const SoakRow row = soak_row(crash, 1);
  EXPECT_EQ(row.work.launches, 0);
  EXPECT_EQ(row.products_per_s, std::nullopt);
}

}  // namespace
}  // namespace assay
