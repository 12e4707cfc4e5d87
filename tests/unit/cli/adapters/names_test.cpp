// Names of trials under other runners: each works in a filter, and leads back to its trial.
#include "cli/adapters/names.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/plan/plan.h"
#include "kernels/cpu/traits.h"
#include "kernels/cuda/traits.h"
#include "kernels/sim/traits.h"
#include "suites/select.h"

namespace assay::cli {
namespace {

const std::string of_names = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/=,%";

/// Every case of every profile, on a machine with several devices of each kind.
std::vector<PlannedTrial> everything() {
  const std::vector<Case> cases = select_cases({.profile = "full"});
  const std::vector<DeviceId> devices{{"cpu", 0},   {"cuda", 0}, {"cuda", 1}, {"cuda", 2},
                                      {"cuda", 10}, {"sim", 0},  {"sim", 1}};
  const std::vector<BackendTraits> backends{cpu::traits(), cuda::traits(), sim::traits()};
  const std::vector<std::string> timings{"batch", "cold"};
  return make_plan(cases, devices, backends, timings);
}

TEST(AdapterNames, OfEveryCaseOnEveryLaneAreItsOwnAndLeadBack) {
  std::set<std::string> gtest_names;
  std::set<std::string> gbench_names;
  std::set<std::string> lanes;
  std::size_t checked = 0;
  std::size_t timed = 0;
  for (const PlannedTrial& trial : everything()) {
    lanes.insert(lane_text(trial));
    TrialName name{trial.test.id(), lane_text(trial), ""};
    if (trial.timing != "cold") {  // names of tests have no timing
      const std::string gtest_name = to_gtest_name(name);
      ASSERT_EQ(gtest_name.find_first_not_of(of_names + "."), std::string::npos) << gtest_name;
      ASSERT_EQ(gtest_name.find('.'), gtest_name.rfind('.')) << gtest_name;
      ASSERT_EQ(from_gtest_name(gtest_name), name) << gtest_name;
      gtest_names.insert(gtest_name);
      ++checked;
    }
    if (trial.timing.empty()) continue;
    name.timing = trial.timing;
    const std::string gbench_name = to_gbench_name(name);
    ASSERT_EQ(gbench_name.find_first_not_of(of_names), std::string::npos) << gbench_name;
    ASSERT_EQ(from_gbench_name(gbench_name), name) << gbench_name;
    gbench_names.insert(gbench_name);
    ++timed;
  }
  EXPECT_EQ(gtest_names.size(), checked);
  EXPECT_EQ(gbench_names.size(), timed);
  EXPECT_GT(timed, 1000U);
  for (const char* lane : {"cpu", "cuda:10", "cuda:0>cuda:1", "cuda:0<>cuda:1", "cuda:0+cuda:1"}) {
    EXPECT_TRUE(lanes.contains(lane)) << lane << " has been tried";
  }
}

TEST(AdapterNames, AreThoseOfTheDocumentation) {
  const std::string id = "linear/f32/batch=64,in=1024,out=1024,bias=1,act=none";
  EXPECT_EQ(to_gtest_name({id, "cuda:0", ""}), "cuda0." + id);
  EXPECT_EQ(to_gbench_name({id, "cpu", "batch"}), "cpu/" + id);
  EXPECT_EQ(to_gbench_name({id, "cpu", "cold"}), "cpu/cold/" + id);
  EXPECT_EQ(lane_name("cuda:0+cuda:1+cuda:2"), "cuda0_with_cuda1_with_cuda2");
  EXPECT_EQ(lane_name("cuda:0>cuda:1"), "cuda0_to_cuda1");
  EXPECT_EQ(lane_name("cuda:0<>cuda:1"), "cuda0_swap_cuda1");
}

TEST(AdapterNames, WhatFiltersCannotNameIsItsCode) {
  const TrialName odd{"a-b:c*d?e.f%g+h\xc3\xa9", "cuda:0", ""};
  const std::string name = to_gtest_name(odd);
  EXPECT_EQ(name, "cuda0.a%2Db%3Ac%2Ad%3Fe%2Ef%25g%2Bh%C3%A9");
  EXPECT_EQ(from_gtest_name(name), odd);
}

TEST(AdapterNames, OfABenchmarkMayHaveWhatTheLibraryAppends) {
  const TrialName trial{"tensor_ops/add/f32/n=1", "cuda:0", "cold"};
  const std::string name = to_gbench_name(trial);
  EXPECT_EQ(from_gbench_name(name + "/iterations:1/manual_time"), trial);
  EXPECT_EQ(from_gbench_name(name + "/iterations:1/manual_time_median"), trial);
}

TEST(AdapterNames, WhatIsNoNameLeadsNowhere) {
  for (const char* name : {"",
                           ".",
                           "cpu",
                           "cpu.",
                           ".tensor_ops/add/f32/n=1",
                           "cuda.x",
                           "cuda01.x",
                           "cpu0.x",
                           "CPU.x",
                           "cuda0_cuda1.x",
                           "cuda0_to.x",
                           "cuda0_to_.x",
                           "cuda0_and_cuda1.x",
                           "cuda:0.x",
                           "cpu.a.b",
                           "cpu.a-b",
                           "cpu.a%2",
                           "cpu.a%2d",
                           "cpu.a%61",
                           "cpu.a%zz",
                           "cpu.a%+1"}) {
    EXPECT_EQ(from_gtest_name(name), std::nullopt) << name;
  }
  for (const char* name : {"", "/", "cpu", "cpu/", "cpu/cold/", "cuda/x", "cpu/a:b"}) {
    EXPECT_EQ(from_gbench_name(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace assay::cli
