#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/machine/counts/counts.h"
#include "emulator/machine/machine.h"

// An upper bound of a kernel's speed on paper, from counts of its instructions and accesses. No
// kernel is as fast as that: the model knows neither dependencies between instructions nor caches.
namespace assay::kernel_counts {

/// One kernel on one GPU.
struct KernelBound {
  double memory_s = 0;         // bytes that the launch touches, at the data sheet's bandwidth
  double issue_s = 0;          // the busiest pipe of a multiprocessor, at its highest clock
  double latency_s = 0;        // loads, with the bytes in flight, as if nothing were stored
  double bytes_in_flight = 0;  // per multiprocessor
  int resident_warps = 0;      // per multiprocessor
  double seconds() const;
  /// "memory", "issue" or "latency".
  std::string_view limited_by() const;
};

/// `registers` of a thread; `counted_on` is the GPU to which the launch fitted its grid.
KernelBound bound_of(const emulator::KernelCounts& kernel, int registers,
                     const emulator::GpuModel& gpu, const emulator::GpuModel& counted_on);

double bandwidth_bytes_per_s(const emulator::GpuModel& gpu);

/// Bytes that loads of one multiprocessor must have under way for the whole bandwidth: what CUB
/// aims at (CCCL, cub/device/dispatch/tuning/tuning_transform.cuh), 64 KiB for compute capability
/// 10.0 in its later versions.
double needed_bytes_in_flight(const emulator::GpuModel& gpu);

/// Blocks of a kernel that a multiprocessor holds at once.
int resident_blocks(std::uint64_t threads, int registers, std::uint64_t shared_bytes,
                    const emulator::GpuModel& gpu);

}  // namespace assay::kernel_counts
