#include "reports/machines/fleet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/core/status.h"
#include "tests/unit/machines_support.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

std::vector<std::string> names(const Fleet& fleet) {
  std::vector<std::string> names;
  for (const FleetMachine& machine : fleet.machines) {
    names.push_back(machine.product + " in " + machine.host);
  }
  return names;
}

double seconds(const Fleet& fleet, std::size_t machine, std::size_t unit, std::size_t time) {
  return std::exp(fleet.machines.at(machine).units.at(unit).times.at(time).log_s);
}

TEST(Fleet, AMachineIsTheDevicesOfOneProductInOneHost) {
  const Fleet fleet = fleet_of({FleetRun{"n1"}
                                    .timed("a", "cpu", "Xeon", 4)
                                    .timed("a", "cuda:0", "H100", 1)
                                    .timed("a", "cuda:1", "H100", 2),
                                FleetRun{"n2"}.timed("a", "cuda:0", "H100", 1)});
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"Xeon in n1", "H100 in n1", "H100 in n2"}));
  ASSERT_EQ(fleet.machines[1].units.size(), 2U);
  EXPECT_EQ(fleet.machines[1].units[1].lane, "cuda:1");
  EXPECT_NEAR(seconds(fleet, 1, 1, 0), 2, 1e-6);
  EXPECT_EQ(fleet.cases.size(), 1U);
  EXPECT_EQ(fleet.machines[1].passed, 2);
}

TEST(Fleet, RunsOfOneMachineGiveTheirMedian) {
  const auto run = [](double s) { return FleetRun{"n1"}.timed("a", "cpu", "Xeon", s); };
  EXPECT_NEAR(seconds(fleet_of({run(8), run(1), run(2)}), 0, 0, 0), 2, 1e-6);
  EXPECT_NEAR(seconds(fleet_of({run(1), run(4)}), 0, 0, 0), 2, 1e-6) << "of logarithms";
  EXPECT_EQ(fleet_of({run(1), run(4)}).machines[0].runs, 2);
}

TEST(Fleet, LanesOfSeveralDevicesAreCasesOfTheirOwn) {
  const Fleet fleet = fleet_of({FleetRun{"n1"}
                                    .timed("copy", "cuda:0>cuda:1", "H100", 1)
                                    .timed("copy", "cuda:1>cuda:0", "H100", 1)});
  ASSERT_EQ(fleet.cases.size(), 2U);
  EXPECT_EQ(fleet.cases[0].lane, "cuda:0>cuda:1");
}

TEST(Fleet, FailedTrialsAreCountedAndListedAndHaveNoTime) {
  const Fleet fleet = fleet_of({FleetRun{"n1"}
                                    .ended("a", "cpu", "Xeon", "fail")
                                    .ended("b", "cpu", "Xeon", "crash")
                                    .ended("c", "cpu", "Xeon", "skip")
                                    .timed("d", "cpu", "Xeon", 1)});
  const FleetMachine& machine = fleet.machines.at(0);
  EXPECT_EQ(machine.wrong, 1);
  EXPECT_EQ(machine.broken, 1);
  EXPECT_EQ(machine.skipped, 1);
  EXPECT_EQ(machine.passed, 1);
  EXPECT_EQ(machine.units.at(0).times.size(), 1U);
  ASSERT_EQ(fleet.failures.size(), 2U);
  EXPECT_EQ(fleet.failures[0].case_id, "a");
  EXPECT_EQ(fleet.failures[1].status, Status::crash);
}

TEST(Fleet, StandInsAreLeftOutUnlessWanted) {
  const std::vector<FleetRun> runs{
      FleetRun{"n1"}.simulated("a", "sim:0", "Xeon").timed("a", "cpu", "Xeon", 1)};
  const Fleet real = fleet_of(runs);
  EXPECT_EQ(names(real), (std::vector<std::string>{"Xeon in n1"}));
  EXPECT_EQ(real.left_out_stand_ins, 1);
  EXPECT_EQ(names(fleet_of(runs, {.stand_ins = true})),
            (std::vector<std::string>{"Xeon (stand-in) in n1", "Xeon in n1"}));
}

TEST(Fleet, TakesWhatIsSelected) {
  const std::vector<FleetRun> runs{
      FleetRun{"n1"}.timed("a", "cpu", "Xeon", 1).timed("b", "cuda:0", "H100", 1)};
  const Fleet of_case =
      fleet_of(runs, {.test = [](const FleetCase& test) { return test.case_id == "a"; }});
  EXPECT_EQ(names(of_case), (std::vector<std::string>{"Xeon in n1"}));
  const Fleet of_lane =
      fleet_of(runs, {.lane = [](const std::string& lane) { return lane == "cuda:0"; }});
  EXPECT_EQ(names(of_lane), (std::vector<std::string>{"H100 in n1"}));
}

TEST(Fleet, IsTheSameInWhicheverOrderRunsAreAdded) {
  std::vector<FleetRun> runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back(FleetRun{fmt::format("n{}", i % 3)}
                       .timed(fmt::format("c{}", 9 - i), "cpu", "Xeon", 1 + i, "ab")
                       .timed("x", "cuda:0", i < 3 ? "H100" : "A100", 2 + i, i == 4 ? "1" : "2")
                       .ended("y", "cpu", "Xeon", "fail"));
  }
  const auto text_of = [](const Fleet& fleet) {
    std::string text;
    for (const FleetCase& test : fleet.cases) text += test.case_id + " ";
    for (const FleetMachine& machine : fleet.machines) {
      text += fmt::format("\n{} {} {}", machine.host, machine.product, machine.first_run);
      for (const FleetUnit& unit : machine.units) {
        for (const FleetTime& time : unit.times)
          text += fmt::format(" {}:{}", time.test, time.log_s);
      }
    }
    for (const FailedTrial& failure : fleet.failures) {
      text += fmt::format("\n{} {}", fleet.machines[failure.machine].host, failure.run);
    }
    for (const BitDifference& difference : fleet.differences) {
      for (const OutputBits& bits : difference.outputs) {
        text += fmt::format("\n{} {} {:x} {} {}", difference.case_id, bits.product, bits.hash,
                            bits.trials, fmt::join(bits.examples, ","));
      }
    }
    return text;
  };
  const std::string expected = text_of(fleet_of(runs));
  std::vector<std::size_t> order{5, 0, 3, 1, 4, 2};
  FleetBuilder builder{FleetSelection{}};
  for (const std::size_t run : order) add(builder, run, runs[run]);
  EXPECT_EQ(text_of(builder.finish()), expected);
}

TEST(Fleet, FindsBitsThatDifferThoseWithinAProductFirst) {
  const Fleet fleet = fleet_of(
      {FleetRun{"n1"}.timed("a", "cuda:0", "H100", 1, "aa").timed("b", "cuda:0", "H100", 1, "1"),
       FleetRun{"n2"}.timed("a", "cuda:0", "A100", 1, "bb").timed("b", "cuda:1", "H100", 1, "2"),
       FleetRun{"n3"}.timed("b", "cuda:0", "H100", 1, "1").timed("c", "cuda:0", "H100", 1, "3"),
       FleetRun{"n4"}.timed("c", "cuda:0", "A100", 1, "3")});
  ASSERT_EQ(fleet.differences.size(), 2U);
  EXPECT_EQ(fleet.cases_with_same_bits, 1U);
  const BitDifference& within = fleet.differences[0];
  EXPECT_EQ(within.case_id, "b");
  EXPECT_TRUE(within.within_product);
  ASSERT_EQ(within.outputs.size(), 2U);
  EXPECT_EQ(within.outputs[0].trials, 2);
  EXPECT_EQ(within.outputs[0].hash, 1U);
  EXPECT_EQ(within.outputs[1].examples, (std::vector<std::string>{"n2 cuda:1"}));
  EXPECT_FALSE(fleet.differences[1].within_product);
}

TEST(Fleet, BitsOfOtherImplementationsAccuseNoDevice) {
  const auto run = [](const char* hash, const char* by) {
    return FleetRun{"n1"}.timed("a", "cuda:0", "H100", 1, hash, "f32", by);
  };
  const Fleet fleet = fleet_of({run("1", "algorithm 13 option 2"), run("2", "algorithm 13"),
                                run("1", "algorithm 13 option 2")});
  ASSERT_EQ(fleet.differences.size(), 1U);
  EXPECT_FALSE(fleet.differences[0].within_product);
  ASSERT_EQ(fleet.differences[0].outputs.size(), 2U);
  EXPECT_EQ(fleet.differences[0].outputs[1].implementation, "algorithm 13 option 2");
  EXPECT_EQ(fleet.differences[0].outputs[1].trials, 2);
  const Fleet one = fleet_of({run("1", "algorithm 13"), run("2", "algorithm 13")});
  EXPECT_TRUE(one.differences.at(0).within_product);
}

TEST(Fleet, BitsOfOtherSeedsAreNotCompared) {
  EXPECT_TRUE(fleet_of({FleetRun{"n1", "", 1}.timed("a", "cpu", "Xeon", 1, "1"),
                        FleetRun{"n2", "", 2}.timed("a", "cpu", "Xeon", 1, "2")})
                  .differences.empty());
}

TEST(Fleet, BitsOfFailedTrialsAndUnknownOnesAreNotCompared) {
  EXPECT_TRUE(fleet_of({FleetRun{"n1"}.timed("a", "cpu", "Xeon", 1, "1"),
                        FleetRun{"n2"}.timed("a", "cpu", "Xeon", 1, "")})
                  .differences.empty());
}

TEST(Fleet, OutputsThatAreAlwaysNewDoNotFillTheMemory) {
  std::vector<FleetRun> runs;
  for (int i = 0; i < 100; ++i) {
    runs.push_back(
        FleetRun{fmt::format("n{}", i)}.timed("a", "cpu", "Xeon", 1, fmt::format("{:x}", i + 1)));
  }
  const Fleet fleet = fleet_of(runs);
  ASSERT_EQ(fleet.differences.size(), 1U);
  EXPECT_TRUE(fleet.differences[0].many);
  EXPECT_LE(fleet.differences[0].outputs.size(), 64U);
}

TEST(Fleet, AHashIsAHexadecimalNumber) {
  EXPECT_NE(message_of<UsageError>([] {
              fleet_of({FleetRun{"n1"}.timed("a", "cpu", "Xeon", 1, "xyz")});
            }).find("results.csv:2:"),
            std::string::npos);
}

}  // namespace
}  // namespace assay
