// Which limits are measured, and for which runs.
#include "session/limits/measure_limits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cpu/traits.h"

namespace assay {
namespace {

class LimitsOfACpu : public testing::Test {
 protected:
  LimitsOfACpu() {
    device_.device = "cpu";
    device_.backend = "cpu";
    device_.last_level_cache_bytes = 32 << 20;
    trials_.push_back({.test = parse_case_id("tensor_ops/pow/f32/n=16777216"),
                       .lane = {*parse_device_id("cpu")},
                       .timing = std::string(batch_timing)});
  }
  LimitPlan plan(bool own_kernels) const {
    return plan_limits({&device_, 1}, {&cpu::traits(), 1},
                       {.trials = trials_, .measured = {}, .own_kernels = own_kernels});
  }
  static std::vector<std::string> names(const LimitPlan& plan) {
    std::vector<std::string> all;
    for (const LimitKind& limit : plan.limits) all.push_back(name(limit));
    return all;
  }

  DeviceInfo device_;
  std::vector<PlannedTrial> trials_;
};

TEST_F(LimitsOfACpu, AreThoseThatTrialsNeed) {
  EXPECT_EQ(names(plan(true)), (std::vector<std::string>{"memory_triad", "function_pow_f32"}));
  trials_[0].timing = "";
  EXPECT_TRUE(plan(true).limits.empty()) << "nothing is timed";
}

TEST_F(LimitsOfACpu, HaveNoFunctionForKernelsOfOthers) {
  EXPECT_EQ(names(plan(false)), (std::vector<std::string>{"memory_triad"}))
      << "a faster function is not beyond a limit";
}

TEST_F(LimitsOfACpu, HaveNoFunctionByThemselves) {
  const LimitPlan all = plan_limits({&device_, 1}, {&cpu::traits(), 1});
  EXPECT_FALSE(all.limits.empty());
  EXPECT_EQ(std::ranges::count(all.limits, Resource::function, &LimitKind::resource), 0);
}

}  // namespace
}  // namespace assay
