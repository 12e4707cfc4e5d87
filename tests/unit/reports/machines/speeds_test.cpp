#include "reports/machines/speeds.h"

#include <gtest/gtest.h>

#include "tests/unit/machines_support.h"

namespace assay {
namespace {

using namespace testing_support;

FleetRun run_of(const std::string& host, const std::string& product, double factor,
                std::size_t cases = 4) {
  FleetRun run{host};
  for (std::size_t i = 0; i < cases; ++i) {
    run.timed(fmt::format("c{}", i), "cuda:0", product, factor * static_cast<double>(1 + i), "",
              i % 2 == 0 ? "f32" : "f16");
  }
  return run;
}

FleetSpeeds speeds_of(const Fleet& fleet, std::size_t baseline = 0) {
  return fleet_speeds(fleet, fleet_columns(fleet), baseline);
}

TEST(FleetSpeeds, ColumnsAreProductsOrTheMachinesOfTheOnlyOne) {
  const Fleet several =
      fleet_of({run_of("n1", "A100", 1), run_of("n2", "H100", 1), run_of("n3", "A100", 1)});
  const auto columns = fleet_columns(several);
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0].name, "A100");
  EXPECT_EQ(columns[0].machines, (std::vector<std::uint32_t>{0, 2}));
  const Fleet single = fleet_of({run_of("n1", "A100", 1), run_of("n2", "A100", 1)});
  EXPECT_EQ(fleet_columns(single).at(1).name, "A100 in n2");
}

TEST(FleetSpeeds, AreGeometricMeansWithIntervals) {
  const Fleet fleet =
      fleet_of({FleetRun{"n1"}.timed("a", "cpu", "X", 4).timed("b", "cpu", "X", 1),
                FleetRun{"n2"}.timed("a", "cpu", "Y", 1).timed("b", "cpu", "Y", 1)});
  const FleetSpeeds speeds = speeds_of(fleet);
  const FleetSpeed& y = speeds.all.at(0);
  EXPECT_EQ(y.column, 1U);
  EXPECT_EQ(y.rank, 1U);
  EXPECT_NEAR(y.speed, 2, 1e-5);
  ASSERT_TRUE(y.interval);
  EXPECT_LT(y.interval->low, 2);
  EXPECT_GT(y.interval->high, 2);
  EXPECT_EQ(y.faster, 1U);
  EXPECT_EQ(y.slower, 0U);
  EXPECT_NEAR(y.most, 4, 1e-5);
  EXPECT_EQ(fleet.cases[y.fastest_case].case_id, "a");
  EXPECT_NEAR(speeds_of(fleet, 1).all.at(1).speed, 0.5, 1e-5) << "the other way round";
}

TEST(FleetSpeeds, AProductIsTheMedianOfItsDevices) {
  const Fleet fleet = fleet_of({run_of("n0", "A100", 1), run_of("n1", "H100", 0.1),
                                run_of("n2", "H100", 0.5), run_of("n3", "H100", 9)});
  EXPECT_NEAR(speeds_of(fleet).all.at(0).speed, 2, 1e-5);
}

TEST(FleetSpeeds, CompareTheCasesThatAllHave) {
  const Fleet fleet =
      fleet_of({run_of("n1", "A100", 1, 4), run_of("n2", "H100", 1, 2), run_of("n3", "L4", 2, 3)});
  const FleetSpeeds speeds = speeds_of(fleet);
  EXPECT_EQ(speeds.common.size(), 2U);
  EXPECT_EQ(speeds.timed_cases, 4U);
  EXPECT_EQ(speeds.min_cases_column, 1U);
  EXPECT_EQ(speeds.min_cases, 2U);
  for (const FleetSpeed& speed : speeds.all) EXPECT_EQ(speed.cases, 2U);
}

TEST(FleetSpeeds, NothingInCommonIsNoSpeed) {
  const Fleet fleet = fleet_of(
      {FleetRun{"n1"}.timed("a", "cpu", "X", 1), FleetRun{"n2"}.timed("b", "cpu", "Y", 1)});
  EXPECT_TRUE(speeds_of(fleet).all.empty());
  EXPECT_TRUE(speeds_of(fleet).common.empty());
}

TEST(FleetSpeeds, MachinesWithoutTimesDoNotEmptyTheComparison) {
  const Fleet fleet = fleet_of({run_of("n1", "A100", 1), run_of("n2", "H100", 0.5),
                                FleetRun{"n3"}.ended("c0", "cuda:0", "L4", "crash")});
  const FleetSpeeds speeds = speeds_of(fleet);
  EXPECT_EQ(speeds.untimed, (std::vector<std::size_t>{2}));
  EXPECT_EQ(speeds.all.size(), 2U);
  EXPECT_EQ(speeds.common.size(), 4U);
}

TEST(FleetSpeeds, RankEachSuiteAndDtype) {
  FleetRun mixed{"n3"};
  mixed.timed("c0", "cuda:0", "L4", 0.1, "", "f32").timed("c1", "cuda:0", "L4", 8, "", "f16");
  const Fleet fleet = fleet_of({run_of("n1", "A100", 1, 2), run_of("n2", "H100", 0.5, 2), mixed});
  std::string text;
  for (const FleetSpeed& speed : speeds_of(fleet).of_each_group) {
    text += fmt::format("{} {} {}; ", speed.dtype, speed.rank, speed.column);
  }
  EXPECT_EQ(text, "f16 1 1; f16 2 0; f16 3 2; f32 1 2; f32 2 1; f32 3 0; ");
}

TEST(FleetSpeeds, KeepTheSlowestCases) {
  const Fleet fleet = fleet_of(
      {FleetRun{"n1"}.timed("a", "cpu", "X", 1).timed("b", "cpu", "X", 1).timed("c", "cpu", "X", 1),
       FleetRun{"n2"}
           .timed("a", "cpu", "Y", 2)
           .timed("b", "cpu", "Y", 4)
           .timed("c", "cpu", "Y", 0.1)});
  const FleetSpeeds speeds = speeds_of(fleet);
  const FleetSpeed& y = *std::ranges::find(speeds.all, 1U, &FleetSpeed::column);
  ASSERT_EQ(y.slowest.size(), 2U);
  EXPECT_EQ(fleet.cases[y.slowest[0].first].case_id, "b");
  EXPECT_NEAR(y.slowest[0].second, 0.25, 1e-6);
  EXPECT_EQ(y.slower, 2U);
}

TEST(MedianInPlace, OfAnEvenNumberIsTheMiddleOfTwo) {
  std::vector<float> values{4, 1, 3, 2};
  EXPECT_EQ(median_in_place(values), 2.5F);
  values = {3, 1, 2};
  EXPECT_EQ(median_in_place(values), 2);
}

}  // namespace
}  // namespace assay
