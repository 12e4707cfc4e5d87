#include "harness/plan/plan.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"
#include "kernels/cpu/traits.h"
#include "kernels/sim/traits.h"

namespace assay {
namespace {

const std::vector<BackendTraits> backends{cpu::traits(), sim::traits()};

const std::vector<std::string> batch{"batch"};

std::vector<Case> cases(const std::vector<std::string>& ids) {
  std::vector<Case> cases;
  for (const std::string& id : ids) cases.push_back(parse_case_id(id));
  return cases;
}

std::vector<std::string> text(const std::vector<PlannedTrial>& plan) {
  std::vector<std::string> lines;
  for (const PlannedTrial& trial : plan) {
    lines.push_back(lane_text(trial) + " " + trial.test.id() +
                    (trial.skip_reason.empty() ? "" : " skip"));
  }
  return lines;
}

TEST(Plan, GoesLaneByLane) {
  const auto plan = make_plan(cases({"tensor_ops/add/f32/n=1", "tensor_ops/exp/f32/n=1"}),
                              std::vector<DeviceId>{{"sim", 0}, {"sim", 1}}, backends, batch);
  EXPECT_EQ(text(plan), (std::vector<std::string>{
                            "sim:0 tensor_ops/add/f32/n=1", "sim:0 tensor_ops/exp/f32/n=1",
                            "sim:1 tensor_ops/add/f32/n=1", "sim:1 tensor_ops/exp/f32/n=1"}));
  EXPECT_EQ(plan[0].timing, "batch");
}

TEST(Plan, KnowsNoBackendByItsName) {
  BackendTraits unheard_of = sim::traits();
  unheard_of.kind = "unheardof";
  const std::vector<BackendTraits> both{sim::traits(), unheard_of};
  const std::vector<std::string> ids{
      "transfers/device_memcpy/u8/from=pinned,to=device,bytes=8,by=engine",
      "transfers/peer_memcpy/u8/bytes=8,by=engine,access=direct",
      "allreduce/allreduce/f32/reduce=sum,ranks=2,count=4",
      "linear/linear/tf32/batch=1,in=1,out=1,bias=0,act=none", "placement/move_copies/f32/n=3"};
  const auto lanes = [&](const std::string& kind) {
    const auto plan = make_plan(cases(ids), std::vector<DeviceId>{{kind, 0}, {kind, 1}}, both, {});
    std::vector<std::string> lines = text(plan);
    for (std::string& line : lines) {
      for (std::size_t at = 0; (at = line.find(kind)) != std::string::npos;) {
        line.replace(at, kind.size(), "x");
      }
    }
    return lines;
  };
  EXPECT_FALSE(lanes("sim").empty());
  EXPECT_EQ(lanes("unheardof"), lanes("sim"));
  EXPECT_THROW(make_plan(cases(ids), std::vector<DeviceId>{{"nonesuch", 0}}, both, {}), UsageError);
}

TEST(Plan, AHostCopyIsNeverPlannedOnAnotherDevice) {
  const auto plan = make_plan(cases({"transfers/memcpy/u8/from=host,to=host,bytes=4,threads=one"}),
                              std::vector<DeviceId>{{"cpu", 0}, {"sim", 0}}, backends, {});
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].lane[0].backend, "cpu");
  EXPECT_EQ(plan[0].timing, "");
}

TEST(Plan, AFormatOfMatrixUnitsIsNeverPlannedOnACpu) {
  const std::string tf32 = "linear/tf32/batch=2,in=3,out=1,bias=1,act=none";
  const std::string e4m3 = "linear/e4m3/batch=16,in=16,out=16,bias=0,act=none";
  const std::string mxfp4 = "linear/mxfp4/batch=16,in=32,out=16,bias=0,act=none";
  const std::string stack =
      "linear/linear_stack/tf32/batch=1,in=1,width=1,layers=1,bias=0,act=none";
  const std::string batched = "tensor_ops/batched_matmul/tf32/batch=1,m=1,n=1,k=1";
  const std::string f32 = "linear/f32/batch=2,in=3,out=1,bias=1,act=none";
  const std::string cast = "tensor_ops/cast/e4m3/to=f32,n=1";
  const auto plan = make_plan(cases({tf32, e4m3, mxfp4, stack, batched, f32, cast}),
                              std::vector<DeviceId>{{"cpu", 0}, {"sim", 0}}, backends, {});
  EXPECT_EQ(text(plan),
            (std::vector<std::string>{"cpu " + f32, "cpu " + cast, "sim:0 " + tf32, "sim:0 " + e4m3,
                                      "sim:0 " + mxfp4, "sim:0 " + stack, "sim:0 " + batched,
                                      "sim:0 " + f32, "sim:0 " + cast}));
}

TEST(Plan, ACollectiveTakesADeviceForEachRankWhereTheyDoNotShare) {
  const auto two = cases({"allreduce/f32/reduce=sum,ranks=2,count=1"});
  const std::vector<DeviceId> devices{{"cpu", 0}, {"sim", 0}, {"sim", 1}, {"sim", 2}};
  const std::string id = two[0].id();
  EXPECT_EQ(text(make_plan(two, devices, backends, batch)),
            (std::vector<std::string>{"cpu " + id, "sim:0+sim:1 " + id}));
}

TEST(Plan, TooFewDevicesAreASkipThatSaysSo) {
  const auto plan = make_plan(cases({"allreduce/f32/reduce=sum,ranks=4,count=1"}),
                              std::vector<DeviceId>{{"sim", 0}, {"sim", 1}}, backends, batch);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].skip_reason, "too few devices: 4 ranks on 2 sim device(s)");
}

TEST(Plan, ACopyBetweenDevicesIsTakenFromEachToEachOtherAndBothWaysOnce) {
  const std::string copy = "transfers/peer_memcpy/u8/bytes=4,by=engine,access=direct";
  const std::vector<DeviceId> devices{{"cpu", 0}, {"sim", 0}, {"sim", 1}, {"sim", 2}};
  EXPECT_EQ(text(make_plan(cases({copy}), devices, backends, batch)),
            (std::vector<std::string>{"sim:0>sim:1 " + copy, "sim:0>sim:2 " + copy,
                                      "sim:1>sim:0 " + copy, "sim:1>sim:2 " + copy,
                                      "sim:2>sim:0 " + copy, "sim:2>sim:1 " + copy}));
  const std::string both = copy + ",ways=both";
  EXPECT_EQ(text(make_plan(cases({both}), devices, backends, batch)),
            (std::vector<std::string>{"sim:0<>sim:1 " + both, "sim:0<>sim:2 " + both,
                                      "sim:1<>sim:2 " + both}));
  const auto alone =
      make_plan(cases({copy, both}), std::vector<DeviceId>{{"sim", 1}}, backends, batch);
  ASSERT_EQ(alone.size(), 2U);
  for (const PlannedTrial& trial : alone) {
    EXPECT_EQ(trial.skip_reason, "too few devices: a copy from one to another, on 1 sim device");
  }
}

TEST(Plan, OnlyCasesOfEachPairAreTakenBeyondTheFirstPair) {
  const std::string one = "transfers/peer_memcpy/u8/bytes=4,by=engine,access=direct";
  const std::string both = one + ",ways=both";
  const std::string each = "transfers/peer_memcpy/u8/bytes=8,by=engine,access=direct";
  std::vector<Case> copies = cases({one, both, each});
  copies[0].on_each_pair = copies[1].on_each_pair = false;
  const std::vector<DeviceId> devices{{"sim", 0}, {"sim", 1}, {"sim", 2}};
  EXPECT_EQ(
      text(make_plan(copies, devices, backends, batch)),
      (std::vector<std::string>{"sim:0>sim:1 " + one, "sim:0<>sim:1 " + both, "sim:0>sim:1 " + each,
                                "sim:0>sim:2 " + each, "sim:1>sim:0 " + each, "sim:1>sim:2 " + each,
                                "sim:2>sim:0 " + each, "sim:2>sim:1 " + each}));
}

TEST(Plan, EachTimingHasATrialOfItsOwnAndWhatIsTooSmallNone) {
  std::vector<Case> two = cases({"tensor_ops/add/f32/n=1", "tensor_ops/exp/f32/n=1"});
  two[1].timed = false;
  const auto plan = make_plan(two, std::vector<DeviceId>{{"cpu", 0}}, backends,
                              std::vector<std::string>{"batch", "cold"});
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_EQ(plan[0].timing, "batch");
  EXPECT_EQ(plan[1].timing, "cold");
  EXPECT_EQ(plan[1].test.id(), plan[0].test.id());
  EXPECT_EQ(plan[2].timing, "");
}

TEST(Plan, ARowIsIdentifiedByItsTrial) {
  const PlannedTrial trial{.test = parse_case_id("allreduce/f32/reduce=sum,ranks=2,count=1"),
                           .lane = {{"sim", 0}, {"sim", 1}},
                           .timing = "batch",
                           .attempt = 2,
                           .repeat = 3};
  Record record;
  identify(record, trial, 7);
  EXPECT_EQ(record.suite, "collectives");
  EXPECT_EQ(record.case_id, trial.test.id());
  EXPECT_EQ(record.op, "allreduce");
  EXPECT_EQ(record.dtype, "f32");
  EXPECT_EQ(record.params, "reduce=sum;ranks=2;count=1");
  EXPECT_EQ(record.device, "sim:0+sim:1");
  EXPECT_EQ(record.timing, "batch");
  EXPECT_EQ(record.attempt, 2);
  EXPECT_EQ(record.repeat, 3);
  EXPECT_EQ(record.seed, 7U);
}

TEST(Plan, LanesAreReadAsTheyAreWritten) {
  const std::vector<std::string> two{"cuda:0", "cuda:1"};
  EXPECT_EQ(split_lane("cuda:0+cuda:1"), two);
  EXPECT_EQ(split_lane("cuda:0>cuda:1"), two);
  EXPECT_EQ(split_lane("cuda:0<>cuda:1"), two);
  EXPECT_EQ(split_lane("cpu"), std::vector<std::string>{"cpu"});
  EXPECT_EQ(split_lane("cuda:0+"), (std::vector<std::string>{"cuda:0", ""})) << "torn, and seen";
}

}  // namespace
}  // namespace assay
