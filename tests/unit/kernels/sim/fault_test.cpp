#include "kernels/sim/fault.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"

namespace assay::sim {
namespace {

TEST(SimFaults, AreOfOpsThatHaveKernels) {
  EXPECT_EQ(parse_fault("low_bit,op=linear").op, "linear");
  for (const char* text : {"low_bit,op=no_such_op", "low_bit,op=linear_module"}) {
    EXPECT_THROW(parse_fault(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace assay::sim
