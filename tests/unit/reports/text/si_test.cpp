#include "reports/text/si.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Si, HasThreeDigitsAndAPrefix) {
  EXPECT_EQ(si(0, "s"), "0 s");
  EXPECT_EQ(si(1.234e-5, "s"), "12.3 µs");
  EXPECT_EQ(si(1, "s"), "1.00 s");
  EXPECT_EQ(si(0.1, "s"), "100 ms");
  EXPECT_EQ(si(999.6, "B/s"), "1.00 kB/s");
  EXPECT_EQ(si(999.4, "B/s"), "999 B/s");
  EXPECT_EQ(si(1000, "B/s"), "1.00 kB/s");
  EXPECT_EQ(si(3.35e12, "B/s"), "3.35 TB/s");
  EXPECT_EQ(si(-2.5e6, "B"), "-2.50 MB");
  EXPECT_EQ(si(1e21, "B"), "1000000 PB");
  EXPECT_EQ(si(2e-9, "s"), "2.00 ns");
  EXPECT_EQ(si(9.999e-7, "s"), "1.00 µs");
  EXPECT_EQ(si(1e-15, "s"), "1.00 fs");
}

TEST(Si, AnIntervalHasThePrefixOfItsValue) {
  EXPECT_EQ(si(1.02e9, 0.98e9, 1.1e9, "B/s"), "1.02 GB/s (0.98 to 1.10)");
  EXPECT_EQ(si(145e9, 142e9, 1.47e12, "FLOP/s"), "145 GFLOP/s (142 to 1470)");
  EXPECT_EQ(si(0, -1, 1, "s"), "0 s");
}

TEST(Ratios, HaveFourSignificantDigitsHoweverFarFromOne) {
  EXPECT_EQ(ratio_text(1), "1.000");
  EXPECT_EQ(ratio_text(0.99996), "1.000");
  EXPECT_EQ(ratio_text(0.95), "0.9500");
  EXPECT_EQ(ratio_text(12.345), "12.35");
  EXPECT_EQ(ratio_text(5.13e-6 / 106e-3), "0.00004840");
  EXPECT_EQ(ratio_text(106e-3 / 5.13e-6), "20663");
  EXPECT_EQ(ratio_text(0), "0");
}

TEST(Ratios, AChangeIsToldInPercentOrTimes) {
  EXPECT_EQ(change_text(1.5), "+50.0%");
  EXPECT_EQ(change_text(0.5), "-50.0%");
  EXPECT_EQ(change_text(5.13e-6 / 106e-3), "×0.00004840") << "and not -100.0%";
  EXPECT_EQ(change_text(20.66), "×20.66");
}

TEST(Ratios, AChangeInWords) {
  EXPECT_EQ(change_in_words(0.85), "15.0% faster");
  EXPECT_EQ(change_in_words(1.5), "50.0% slower");
  EXPECT_EQ(change_in_words(5.13e-6 / 106e-3), "20,700× faster");
  EXPECT_EQ(change_in_words(20.66), "20.7× slower");
  EXPECT_EQ(change_in_words(999.6), "1,000× slower");
}

TEST(Durations, HaveAtMostTwoUnits) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(0.0125), "0.013 s");
  EXPECT_EQ(duration_text(2.5), "2.5 s");
  EXPECT_EQ(duration_text(9.96), "10 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(59.7), "1 min");
  EXPECT_EQ(duration_text(259), "4 min 19 s");
  EXPECT_EQ(duration_text(3599.7), "1 h");
  EXPECT_EQ(duration_text(5400), "1 h 30 min");
  EXPECT_EQ(duration_text(86399), "1 d") << "and not 23 h 60 min";
  EXPECT_EQ(duration_text(93784), "1 d 2 h");
  EXPECT_EQ(duration_text(1e7), "115 d 18 h");
}

TEST(Counts, HaveCommas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(2446), "2,446");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(-1000), "-1,000");
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(2446, "run"), "2,446 runs");
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(1, "case is", "cases are"), "1 case is");
  EXPECT_EQ(counted(2, "case is", "cases are"), "2 cases are");
}

}  // namespace
}  // namespace assay
