#include "session/soak/duration.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"

namespace assay {
namespace {

TEST(Duration, HasUnits) {
  EXPECT_EQ(parse_duration("8h"), 8 * 3600);
  EXPECT_EQ(parse_duration("30m"), 30 * 60);
  EXPECT_EQ(parse_duration("45s"), 45);
  EXPECT_EQ(parse_duration("90"), 90) << "seconds are the default";
  EXPECT_EQ(parse_duration("1h30m"), 5400);
  EXPECT_EQ(parse_duration("1d2h3m4s"), 93784);
  EXPECT_EQ(parse_duration("0.5h"), 1800);
}

TEST(Duration, RefusesWhatMightBeMisread) {
  for (const char* text : {"", "h", "8 h", "8hours", "30m1h", "1h1h", "-5s", "0", "0s", "nan",
                           "inf", "1e3", "5ms", "400d", "8h,"}) {
    EXPECT_THROW(parse_duration(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace assay
