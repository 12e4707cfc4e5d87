#include "suites/soak_cases.h"

#include <gtest/gtest.h>

#include "harness/execute/soak.h"
#include "kernels/cpu/traits.h"
#include "kernels/sim/traits.h"

namespace assay {
namespace {

TEST(SoakCases, CanAllSoakOnTheirBackend) {
  for (const BackendTraits& backend : {cpu::traits(), sim::traits()}) {
    bool has_product = false;
    bool has_copy = false;
    for (const Case& one : soak_cases(backend, {})) {
      EXPECT_TRUE(can_soak(one.op)) << one.id();
      EXPECT_TRUE(applies_to(one.op, backend)) << one.id();
      has_product |= multiply_adds(one.op) > 0;
      has_copy |= one.op.signature.is_copy;
    }
    EXPECT_TRUE(has_product && has_copy) << backend.kind;
  }
}

TEST(SoakCases, CrossTheLinkOfADeviceWithItsOwnMemory) {
  const auto crosses = [](const BackendTraits& backend) {
    int count = 0;
    for (const Case& one : soak_cases(backend, {}))
      count += one.op.op->name == "device_memcpy" ? 1 : 0;
    return count;
  };
  EXPECT_EQ(crosses(sim::traits()), 1);
  EXPECT_EQ(crosses(cpu::traits()), 0);
}

TEST(SoakCases, AreNoneWithoutSizes) { EXPECT_TRUE(soak_cases({.kind = "toy"}, {}).empty()); }

}  // namespace
}  // namespace assay
