#include "reports/machines/figures.h"

#include <gtest/gtest.h>

#include "tests/unit/machines_support.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

/// Rows of softmax on one host, each with its rate in B/s.
struct SoftmaxRun {
  std::string host;
  std::string rows;
  std::vector<Limit> limits;

  SoftmaxRun& ran(const std::string& device, const std::string& product, double bytes_per_s,
                  double bytes = 1e6, const std::string& status = "pass",
                  const std::string& stand_in = "", int repeat = 1) {
    rows += fmt::format(
        "softmax/{0},tensor_ops,softmax,f32,{1},{2},batch,1,{3},{4},,{5},{6},{0},{7}\n", bytes,
        device, product, repeat, status, bytes / bytes_per_s, stand_in, bytes_per_s);
    return *this;
  }
};

Fleet fleet_of_softmax(const std::vector<SoftmaxRun>& runs) {
  FleetBuilder builder({});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    RunInfo info;
    info.host = runs[run].host;
    std::istringstream text(
        "case_id,suite,op,dtype,device,device_name,timing,attempt,repeat,status,reason,"
        "time_median_s,stand_in,bytes,bandwidth_bytes_per_s\n" +
        runs[run].rows);
    builder.add(run, info, StoredTrials(text, "results.csv"), runs[run].limits);
  }
  return builder.finish();
}

std::size_t index_of(std::string_view name) {
  const auto found = std::ranges::find(key_figures(), name, &KeyFigure::name);
  return static_cast<std::size_t>(found - key_figures().begin());
}

/// Returns the softmax of the first column; 0 if it has none.
double softmax_of(const Fleet& fleet, std::size_t column = 0) {
  const auto found = column_measure(fleet, fleet_columns(fleet).at(column), index_of("softmax"));
  return found ? found->median->measure.value : 0;
}

TEST(MachineFigures, AreThoseOfTheLargestCase) {
  EXPECT_EQ(softmax_of(fleet_of_softmax({SoftmaxRun{"n"}
                                             .ran("cuda:0", "A", 9e9, 1e3)
                                             .ran("cuda:0", "A", 4e9, 1e6)
                                             .ran("cuda:0", "A", 7e9, 1e4)})),
            4e9);
}

TEST(MachineFigures, AreThoseOfTheMedianDeviceAndSayWhichThatIs) {
  const Fleet fleet = fleet_of_softmax(
      {SoftmaxRun{"n1"}.ran("cuda:0", "A", 1e9), SoftmaxRun{"n2"}.ran("cuda:1", "A", 5e9),
       SoftmaxRun{"n3"}.ran("cuda:2", "A", 3e9), SoftmaxRun{"n4"}.ran("cuda:3", "A", 4e9),
       SoftmaxRun{"n5"}.ran("cuda:0", "B", 9e9)});
  const auto found = column_measure(fleet, fleet_columns(fleet).at(0), index_of("softmax"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->median->measure.value, 3e9) << "the lower of the two in the middle";
  EXPECT_EQ(found->host, "n3");
  EXPECT_EQ(found->median->run, 2U);
  EXPECT_EQ(found->median->measure.device, "cuda:2");
  EXPECT_EQ(found->measures, 4U);
}

TEST(MachineFigures, OfRepeatsTheMedianCounts) {
  SoftmaxRun run{"n"};
  for (int repeat = 1; repeat <= 3; ++repeat) {
    run.ran("cpu", "A", repeat == 2 ? 9e9 : repeat * 1e9, 1e6, "pass", "", repeat);
  }
  EXPECT_EQ(softmax_of(fleet_of_softmax({run})), 3e9);
}

TEST(MachineFigures, WrongResultsAndStandInsHaveNone) {
  EXPECT_EQ(softmax_of(fleet_of_softmax({SoftmaxRun{"n"}.ran("cpu", "A", 9e9, 1e6, "fail")})), 0);
  SoftmaxRun flaky{"n"};
  flaky.ran("cpu", "A", 9e9).ran("cpu", "A", 1e9, 1e6, "fail", "", 2);
  EXPECT_EQ(softmax_of(fleet_of_softmax({flaky})), 0) << "one of its repeats is wrong";
  FleetSelection all{.stand_ins = true};
  SoftmaxRun emulated{"n"};
  emulated.ran("cuda:0", "A", 9e9, 1e6, "pass", "emulated");
  emulated.limits = {copy_limit()};
  emulated.limits[0].device = "cuda:0";
  FleetBuilder builder(all);
  std::istringstream text(
      "case_id,suite,op,dtype,device,device_name,timing,attempt,repeat,status,reason,"
      "time_median_s,stand_in,bytes,bandwidth_bytes_per_s\n" +
      emulated.rows);
  builder.add(0, {}, StoredTrials(text, "results.csv"), emulated.limits);
  const Fleet fleet = builder.finish();
  ASSERT_EQ(fleet.machines.size(), 1U);
  EXPECT_TRUE(fleet.machines[0].measures.empty());
}

TEST(MachineFigures, TheTableSaysWhatWasNotRun) {
  SoftmaxRun a{"n1"};
  a.ran("cpu", "A", 4e9).limits = {copy_limit()};
  SoftmaxRun b{"n2"};
  b.ran("cpu", "B", 5e9, 1e7);
  const Fleet fleet = fleet_of_softmax({a, b});
  const std::vector<FleetColumn> columns = fleet_columns(fleet);
  const FleetSpeeds speeds = fleet_speeds(fleet, columns, 0);
  const std::vector<std::string> runs{"runs/a", "runs/b"};
  const MachinesFacts facts{.fleet = fleet, .columns = columns, .speeds = speeds, .runs = runs};
  const std::vector<Section> sections{figures_section(facts)};
  const std::string text = sections_text(sections);
  EXPECT_NE(text.find("  figure "), std::string::npos) << text;
  EXPECT_NE(text.find("31.2 GB/s (31.0 to 31.5), 50% of theory      not run  limits/stream_copy"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("4.00 GB/s  5.00 GB/s *  softmax/1000000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("* at another case"), std::string::npos) << text;
  const std::string csv = machines_figures_csv(facts);
  EXPECT_NE(csv.find("softmax,B,B/s,5000000000,,,,,softmax/10000000,cpu,n2,runs/b,1\n"),
            std::string::npos)
      << csv;
  EXPECT_NE(csv.find("sort,A,B/s,,,,,,,,,,0\n"), std::string::npos) << csv;
}

TEST(MachineFigures, NothingMeasuredIsNoTable) {
  const Fleet fleet = fleet_of({FleetRun{"n"}.timed("x", "cpu", "A", 1)});
  const std::vector<FleetColumn> columns = fleet_columns(fleet);
  const FleetSpeeds speeds = fleet_speeds(fleet, columns, 0);
  EXPECT_TRUE(figures_section({.fleet = fleet, .columns = columns, .speeds = speeds}).rows.empty());
}

}  // namespace
}  // namespace assay
