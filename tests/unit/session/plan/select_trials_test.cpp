#include "session/plan/select_trials.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"
#include "session/options/selection_options.h"

namespace assay {
namespace {

/// Machine of a CPU and of one GPU, whose cache lets cases of f32 grow to 32 Mi elements.
protocol::Hello machine() {
  protocol::Hello hello;
  hello.backends = {{.kind = "cpu", .memory = MemorySpace::host}, {.kind = "gpu"}};
  DeviceInfo gpu{.device = "gpu:0", .backend = "gpu"};
  gpu.last_level_cache_bytes = 50 << 20;
  gpu.memory_total_bytes = std::int64_t{80} << 30;
  hello.devices = {{.device = "cpu", .backend = "cpu"}, gpu};
  return hello;
}

/// "DEVICE CASE" of each trial.
std::vector<std::string> trials(const Selection& cases, const std::string& devices = "gpu") {
  SelectionOptions options;
  options.cases = cases;
  options.devices = {devices};
  std::vector<std::string> found;
  for (const PlannedTrial& trial : select_trials(options, machine).plan)
    found.push_back(lane_text(trial) + " " + trial.test.id());
  return found;
}

TEST(SelectTrials, FiltersTheIdsOfTheSelectedDevices) {
  const std::vector<std::string> grown{"gpu:0 tensor_ops/relu/f32/n=33554432"};
  EXPECT_EQ(trials({.filter = "/relu/f32/n=33554432$"}), grown);
  EXPECT_THROW(trials({.filter = "/relu/f32/n=16777216$"}), UsageError) << "no case of this run";
}

TEST(SelectTrials, GivesAllDevicesOfARunTheSameCases) {
  const std::vector<std::string> grown{"cpu tensor_ops/relu/f32/n=33554432",
                                       "gpu:0 tensor_ops/relu/f32/n=33554432"};
  EXPECT_EQ(trials({.filter = "/relu/f32/n=33554432$"}, "all"), grown);
  const std::vector<std::string> of_profile{"cpu tensor_ops/relu/f32/n=16777216"};
  EXPECT_EQ(trials({.filter = "/relu/f32/n=16777216$"}, "cpu"), of_profile);
}

TEST(SelectTrials, ShardsTheIdsOfTheSelectedDevices) {
  std::vector<std::string> found;
  for (const char* shard : {"1/2", "2/2"}) {
    try {
      for (std::string& trial : trials({.filter = "/relu/f32/n=33554432$", .shard = shard}))
        found.push_back(std::move(trial));
    } catch (const UsageError&) {  // the part is empty
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{"gpu:0 tensor_ops/relu/f32/n=33554432"}));
}

TEST(SelectTrials, RefusesWrongTextBeforeTheMachineIsProbed) {
  const auto refuses = [](const Selection& cases) {
    SelectionOptions options;
    options.cases = cases;
    bool is_probed = false;
    EXPECT_THROW(select_trials(options,
                               [&] {
                                 is_probed = true;
                                 return machine();
                               }),
                 UsageError);
    EXPECT_FALSE(is_probed);
  };
  refuses({.suites = {"nothing"}});
  refuses({.filter = "("});
  refuses({.cases = {"tensor_ops/nothing/f32/n=1"}});
  refuses({.filter = "^nothing$", .cases = {"tensor_ops/relu/f32/n=1"}});
  refuses({.profile = "nothing"});
  refuses({.axes = {"n=none"}});
  refuses({.shard = "3/2"});
}

}  // namespace
}  // namespace assay
