#include "tests/kernel_counts/bound.h"

#include <gtest/gtest.h>

#include "emulator/runtime/gpus.h"

namespace assay::kernel_counts {
namespace {

using emulator::KernelCounts;
using emulator::Pipe;

const emulator::GpuModel& h100() { return *emulator::find_gpu_model("h100sxm"); }

/// One block of 256 threads for each multiprocessor and more: reads and writes 1 GiB each.
KernelCounts stream() {
  KernelCounts kernel;
  kernel.launches = 1;
  kernel.threads_per_block = 256;
  kernel.blocks = 1 << 20;
  constexpr std::uint64_t bytes = 1 << 30;
  for (auto* global : {&kernel.counts.loads, &kernel.counts.stores}) {
    global->requests = bytes / 512;
    global->lane_bytes = global->wide_bytes = bytes;
    global->sectors = global->distinct_sectors = bytes / emulator::sector_bytes;
  }
  kernel.counts.load_waits = kernel.counts.loads.requests / 4;
  return kernel;
}

TEST(KernelBound, IsMemorysWhereNothingElseTakesLonger) {
  const KernelBound bound = bound_of(stream(), 32, h100(), h100());
  EXPECT_EQ(bound.limited_by(), "memory");
  EXPECT_DOUBLE_EQ(bound.seconds(), 2.0 * (1 << 30) / bandwidth_bytes_per_s(h100()));
  EXPECT_EQ(bound.resident_warps, 64);
  EXPECT_DOUBLE_EQ(bound.bytes_in_flight, 64 * 4 * 512);
}

TEST(KernelBound, CountsInstructionsOfTheBusiestPipe) {
  KernelCounts kernel = stream();
  constexpr std::uint64_t instructions = 100'000'000;
  kernel.counts.instructions[static_cast<std::size_t>(Pipe::special)] = instructions;
  const KernelBound bound = bound_of(kernel, 32, h100(), h100());
  EXPECT_EQ(bound.limited_by(), "issue");
  EXPECT_DOUBLE_EQ(bound.issue_s, instructions * 32.0 / 16 / 132 / 1.98e9);
}

TEST(KernelBound, CountsAllInstructionsTogether) {
  KernelCounts kernel = stream();
  constexpr std::uint64_t each = 100'000'000;
  for (const Pipe pipe : {Pipe::f32, Pipe::integer, Pipe::control})
    kernel.counts.instructions[static_cast<std::size_t>(pipe)] = each;
  EXPECT_DOUBLE_EQ(bound_of(kernel, 32, h100(), h100()).issue_s, 3.0 * each / 4 / 132 / 1.98e9);
}

TEST(KernelBound, WaitsLongerWithFewBytesInFlight) {
  KernelCounts kernel = stream();
  kernel.counts.load_waits *= 16;  // 128 bytes each
  const KernelBound bound = bound_of(kernel, 32, h100(), h100());
  EXPECT_EQ(bound.limited_by(), "latency");
  EXPECT_DOUBLE_EQ(bound.latency_s, bound.memory_s / 2 * 4);  // 8 of 32 KiB, for the loads alone
}

TEST(KernelBound, OfAKernelThatLoadsOneValueAloneIsNotOfLatency) {
  KernelCounts kernel = stream();
  kernel.counts.loads = {};
  const KernelBound bound = bound_of(kernel, 32, h100(), h100());
  EXPECT_EQ(bound.latency_s, 0);
  EXPECT_EQ(bound.seconds(), bound.memory_s);
}

TEST(KernelBound, HasNoMoreBlocksThanWereStarted) {
  KernelCounts kernel = stream();
  kernel.blocks = 132;
  EXPECT_EQ(bound_of(kernel, 32, h100(), h100()).resident_warps, 8);
}

TEST(ResidentBlocks, AreLimitedByEachResource) {
  EXPECT_EQ(resident_blocks(256, 32, 0, h100()), 8);           // threads
  EXPECT_EQ(resident_blocks(32, 16, 0, h100()), 32);           // blocks
  EXPECT_EQ(resident_blocks(256, 64, 0, h100()), 4);           // registers
  EXPECT_EQ(resident_blocks(256, 33, 0, h100()), 6);           // in units of 256 a warp
  EXPECT_EQ(resident_blocks(256, 32, 100 * 1024, h100()), 2);  // shared memory
  EXPECT_EQ(resident_blocks(256, 32, 113 * 1024, h100()), 2);  // with 1 KiB for the system
  EXPECT_EQ(resident_blocks(256, 32, 114 * 1024, h100()), 1);
}

}  // namespace
}  // namespace assay::kernel_counts
