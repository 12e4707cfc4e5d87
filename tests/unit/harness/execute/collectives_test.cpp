// Collectives on the CPU and on simulated devices: every op, dtype, root and place.
#include "kernels/ops/collectives.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/reference/reference.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

const std::vector<std::string> dtypes{"f64", "f32", "bf16", "f16", "i64", "i32"};

/// Parameters of each op, without those of sizes.
const std::vector<std::string> kinds{"reduce/%/reduce=sum",
                                     "reduce/%/reduce=avg,root=2",
                                     "reduce/%/reduce=premul_sum,place=in",
                                     "reduce/%/reduce=min,root=1",
                                     "reduce_scatter/%/reduce=sum",
                                     "reduce_scatter/%/reduce=avg",
                                     "reduce_scatter/%/reduce=max",
                                     "reduce_scatter/%/reduce=prod",
                                     "reduce_scatter/%/reduce=premul_sum",
                                     "all_gather/%/place=out",
                                     "all_gather/%/place=in",
                                     "broadcast/%/root=0",
                                     "broadcast/%/root=2",
                                     "broadcast/%/root=1,place=in",
                                     "all_to_all/%/",
                                     "send_recv/%/",
                                     "send_recv_pair/%/from=0,to=2",
                                     "send_recv_pair/%/from=2,to=1"};

std::string id(std::string kind, const std::string& dtype) {
  kind.replace(kind.find('%'), 1, dtype);
  return "collectives/" + kind + (kind.ends_with('/') ? "" : ",") + "ranks=3,count=1003";
}

TEST_F(Engines, EveryCollectivePassesInEveryDtype) {
  const std::vector<DeviceId> three{{"sim", 0}, {"sim", 1}, {"sim", 2}};
  for (const std::string& kind : kinds) {
    for (const std::string& dtype : dtypes) {
      const std::string of_three = id(kind, dtype);
      const OpInstance op = parse_case_id(of_three).op;
      for (const auto& lane : {std::vector<DeviceId>{{"cpu", 0}}, three}) {
        const Record record = execute(planned(of_three, lane));
        EXPECT_EQ(record.status, Status::pass) << of_three << ": " << record.reason;
        EXPECT_EQ(record.elements, std::ssize(passes(op)) * output_elements(op.signature))
            << of_three << ": each pass, every rank that gets something";
      }
    }
  }
}

PlannedTrial timed(const std::string& case_id, std::vector<DeviceId> lane) {
  PlannedTrial trial = planned(case_id, std::move(lane));
  trial.timing = "batch";
  return trial;
}

TEST_F(Engines, CollectivesAreTimedByTheBusOfNcclTests) {
  struct Expected {
    std::string case_id;
    double bytes;
    double bus_over_alg;
  };
  for (const Expected& e : std::vector<Expected>{
           {"allreduce/f32/reduce=sum,ranks=4,count=1000", 4000, 1.5},
           {"collectives/reduce/f32/reduce=sum,ranks=4,count=1000", 4000, 1},
           {"collectives/reduce_scatter/f32/reduce=sum,ranks=4,count=1000", 16000, 0.75},
           {"collectives/all_gather/f32/ranks=4,count=1000", 16000, 0.75},
           {"collectives/all_gather/f32/ranks=4,count=1000,place=in", 16000, 0.75},
           {"collectives/broadcast/f32/ranks=4,count=1000", 4000, 1},
           {"collectives/all_to_all/f32/ranks=4,count=1000", 16000, 0.75},
           {"collectives/send_recv/f32/ranks=4,count=1000", 4000, 1},
           {"collectives/send_recv_pair/f32/ranks=4,count=1000,from=3,to=0", 4000, 1}}) {
    const Record record = execute(timed(e.case_id, {{"cpu", 0}}));
    ASSERT_EQ(record.status, Status::pass) << e.case_id << ": " << record.reason;
    EXPECT_EQ(record.bytes, e.bytes) << e.case_id;
    EXPECT_NEAR(*record.algbw_bytes_per_s * *record.time_median_s, e.bytes, 1e-6 * e.bytes);
    EXPECT_NEAR(*record.busbw_bytes_per_s / *record.algbw_bytes_per_s, e.bus_over_alg, 1e-9)
        << e.case_id;
    EXPECT_EQ(record.rank_times_s, "") << "the ranks share a device, and its clock";
  }
}

TEST_F(Engines, EachRankThatHasADeviceHasATime) {
  const Record record = execute(
      timed("collectives/all_gather/f32/ranks=3,count=1003", {{"sim", 0}, {"sim", 1}, {"sim", 2}}));
  ASSERT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_EQ(std::ranges::count(record.rank_times_s, ';'), 2) << record.rank_times_s;
}

/// What the ranks get of inputs 10 rank + i, i from 0.
std::vector<std::vector<int>> outputs_of(const std::string& case_id) {
  const OpInstance op = parse_case_id(case_id).op;
  std::vector<std::vector<HostTensor>> inputs;
  for (int rank = 0; rank < op.signature.ranks; ++rank) {
    HostTensor& x = inputs.emplace_back().emplace_back(op.signature.inputs[0]);
    int next = 10 * rank;
    for (std::int32_t& element : x.as<std::int32_t>()) element = next++;
  }
  std::vector<std::vector<int>> outputs(inputs.size());
  for (const int rank : output_ranks(op.signature)) {
    HostTensor y(op.signature.outputs[0]);
    reference::find(op).bits({op, inputs, {}, rank}, {}, 0, y.bytes());
    const auto elements = y.as<std::int32_t>();
    outputs[static_cast<std::size_t>(rank)].assign(elements.begin(), elements.end());
  }
  return outputs;
}

TEST(CollectiveReferences, GiveWhatMpiDefines) {
  using Outputs = std::vector<std::vector<int>>;
  const std::string all = "ranks=3,count=2";
  EXPECT_EQ(outputs_of("collectives/reduce/i32/reduce=sum,root=1," + all),
            (Outputs{{}, {30, 33}, {}}));
  EXPECT_EQ(outputs_of("collectives/reduce_scatter/i32/reduce=sum," + all),
            (Outputs{{30, 33}, {36, 39}, {42, 45}}));
  EXPECT_EQ(outputs_of("collectives/reduce_scatter/i32/reduce=max," + all),
            (Outputs{{20, 21}, {22, 23}, {24, 25}}));
  EXPECT_EQ(outputs_of("collectives/all_gather/i32/" + all), Outputs(3, {0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(outputs_of("collectives/all_gather/i32/place=in," + all),
            Outputs(3, {0, 1, 12, 13, 24, 25}))
      << "each rank's own chunk";
  EXPECT_EQ(outputs_of("collectives/broadcast/i32/root=2," + all), Outputs(3, {20, 21}));
  EXPECT_EQ(outputs_of("collectives/all_to_all/i32/" + all),
            (Outputs{{0, 1, 10, 11, 20, 21}, {2, 3, 12, 13, 22, 23}, {4, 5, 14, 15, 24, 25}}));
  EXPECT_EQ(outputs_of("collectives/send_recv/i32/" + all), (Outputs{{20, 21}, {0, 1}, {10, 11}}));
  EXPECT_EQ(outputs_of("collectives/send_recv_pair/i32/from=2,to=0," + all),
            (Outputs{{20, 21}, {}, {}}));
}

TEST(Collectives, RefuseRanksThatThereAreNot) {
  for (const char* params :
       {"broadcast/f32/root=3", "reduce/f32/reduce=sum,root=3", "send_recv_pair/f32/from=3,to=0",
        "send_recv_pair/f32/from=0,to=3", "send_recv_pair/f32/from=1,to=1"}) {
    EXPECT_THROW(parse_case_id(std::string("collectives/") + params + ",ranks=3,count=1"),
                 UsageError)
        << params;
  }
}

TEST(Collectives, AnAllreduceIsOfTheSuiteByBothNames) {
  const std::string params = "f32/reduce=sum,ranks=2,count=4";
  for (const char* suite : {"allreduce/", "collectives/allreduce/", "allreduce/allreduce/"}) {
    const Case test = parse_case_id(suite + params);
    EXPECT_EQ(test.suite, "collectives");
    EXPECT_EQ(test.id(), "allreduce/" + params);
  }
}

}  // namespace
}  // namespace assay
