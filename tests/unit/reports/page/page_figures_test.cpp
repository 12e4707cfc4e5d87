#include "reports/files/table_file.h"
#include "tests/unit/page_support.h"

namespace assay::page {
namespace {

/// A timed softmax, in batches.
Record softmax(const std::string& of, double time_s, double n = 1e6) {
  Record one = timed("softmax", of, time_s, n);
  one.timing = batch_timing;
  one.fraction_of_limit = 0.5;
  one.limit = "memory_copy 1.6e+10 B/s";
  return one;
}

TEST(Page, FiguresOfOneMachineAreBarsOfTheirLimitsAndRowsOfATable) {
  const Stored stored({softmax("cpu", 1e-3), softmax("cpu", 1e-6, 1e3)});
  TableFile<Limit>(stored.path() / "limits.csv").add(copy_limit());
  const std::string html = html_of({stored.read()});
  expect_sound(html);
  const std::string figures = part(html, "figures");
  EXPECT_TRUE(has(figures, "8.00 GB/s · 50%")) << "of the largest case";
  EXPECT_TRUE(has(figures, "31.2 GB/s · 50%"));
  EXPECT_EQ(count(figures, "class=\"bar\""), 2U);
  EXPECT_TRUE(has(figures, "href=\"#row=0.0\"")) << "the row of the case";
  EXPECT_TRUE(has(figures, "href=\"#row=1.0\"")) << "the row of the limit";
  EXPECT_TRUE(has(figures, "50% of limit · tensor_ops/softmax/f32/n=1000000"));
  EXPECT_TRUE(has(figures, "7.92–8.08") || has(figures, "7.92 to 8.08"));
  EXPECT_TRUE(has(figures, ">not run</text>"));
  EXPECT_FALSE(has(figures, ">0 B/s"));
}

TEST(Page, AFigureBeyondItsLimitIsMarkedAndStaysInTheChart) {
  Record beyond = softmax("cpu", 1e-3);
  beyond.fraction_of_limit = 1.74;
  const auto chart = data_of({Stored({beyond}).read()})["figures"]["chart"].get<std::string>();
  EXPECT_EQ(count(chart, "class=\"bar-beyond\""), 1U);
  EXPECT_TRUE(has(chart, "width=\"100%\"")) << chart;
  EXPECT_TRUE(has(chart, "174%"));
}

TEST(Page, FiguresOfSeveralMachinesAreBarsBesideTheBest) {
  const Stored stored({softmax("cpu", 2e-3), softmax("cuda:0", 1e-3)}, sample_run(2, 0),
                      {"cpu", "cuda:0"});
  const Json part = data_of({stored.read()})["figures"];
  EXPECT_EQ(part["legend"].size(), 2U);
  const auto chart = part["chart"].get<std::string>();
  EXPECT_TRUE(has(chart, "4.00 GB/s"));
  EXPECT_TRUE(has(chart, "8.00 GB/s"));
  EXPECT_TRUE(has(chart, ">best</text>"));
  EXPECT_FALSE(has(chart, ">limit</text>"));
}

TEST(Page, AFigureAtAnotherCaseHasAStar) {
  const Stored stored({softmax("cpu", 2e-3), softmax("cuda:0", 1e-3, 1e7)}, sample_run(2, 0),
                      {"cpu", "cuda:0"});
  const auto chart = data_of({stored.read()})["figures"]["chart"].get<std::string>();
  EXPECT_TRUE(has(chart, "4.00 GB/s<"));
  EXPECT_TRUE(has(chart, "80.0 GB/s *<"));
}

TEST(Page, WhatStandsForADeviceHasNoFigures) {
  const Stored stored({softmax("sim:0", 1e-3)}, sample_run(1, 0), {"sim:0"});
  Limit limit = copy_limit();
  limit.device = "sim:0";
  TableFile<Limit>(stored.path() / "limits.csv").add(limit);
  EXPECT_TRUE(data_of({stored.read()})["figures"].is_null());
}

TEST(Page, ARunThatTimedNoneOfThemHasNoFigures) {
  EXPECT_TRUE(data_of({Stored({timed("add", "cpu", 1e-3)}).read()})["figures"].is_null());
}

}  // namespace
}  // namespace assay::page
