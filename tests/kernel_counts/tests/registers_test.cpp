#include "tests/kernel_counts/registers.h"

#include <gtest/gtest.h>

namespace assay::kernel_counts {
namespace {

TEST(ReadRegisters, TakesThemOfEachEntryFunction) {
  const auto found = read_registers(
      "ptxas info    : Compiling entry function '_Z1av' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1av\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 0 barriers\n"
      "ptxas info    : Compiling entry function '_Z1bv' for 'sm_90'\n"
      "ptxas info    : Used 128 registers, used 1 barriers, 64 bytes smem\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.at("_Z1av"), 40);
  EXPECT_EQ(found.at("_Z1bv"), 128);
}

TEST(Registers, AKernelThatPtxasDoesNotTellOfIsAnError) {
  Registers registers("sm_90");
  EXPECT_THROW(registers.read(".version 9.0\n.target sm_75\n.address_size 64\n", {"absent"}),
               std::runtime_error);
}

}  // namespace
}  // namespace assay::kernel_counts
