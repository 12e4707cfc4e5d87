#include "tests/kernel_counts/targets.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"

namespace assay::kernel_counts {
namespace {

void check(const std::string& gpu, const std::string& ptx) {
  check_runs(*emulator::find_gpu_model(gpu), ptx);
}

TEST(Targets, RunPtxOfTheirCapabilityAndOfOlderOnes) {
  EXPECT_EQ(capability_of(".version 9.0\n.target sm_100\n.address_size 64\n"), 100);
  check("a100", ".target sm_80\n");
  check("b200", ".target sm_90\n");
}

TEST(Targets, AGpuThatDoesNotRunThePtxIsAnError) {
  try {
    check("a100", ".target sm_90\n");
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 50),
              "a100 does not run PTX for compute capability 9.0, ");
  }
}

TEST(Targets, PtxWithoutATargetIsAnError) {
  EXPECT_THROW(check("a100", ".version 9.0\n"), std::runtime_error);
}

}  // namespace
}  // namespace assay::kernel_counts
