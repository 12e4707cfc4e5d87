#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "emulator/machine/machine.h"

namespace emulator {

// Equal on all GPUs of compute capability 3.0 and higher: programming guide, "Technical
// Specifications per Compute Capability".
inline constexpr unsigned max_threads_per_block = 1024, max_block_z = 64;
inline constexpr unsigned max_grid_x = 2147483647, max_grid_yz = 65535;
inline constexpr std::size_t constant_memory_bytes = 65536, warp_threads = 32;

/// How much of the second-level cache may be set aside for accesses that persist: three quarters of
/// it from 8.0 on, by the programming guide's example of the A100.
inline std::size_t persisting_l2_bytes(const GpuModel& gpu) {
  return gpu.major >= 8 ? gpu.l2_bytes / 4 * 3 : 0;
}

struct LaunchShape {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes, max_dynamic_shared_bytes;
};

/// Returns the error by which a GPU refuses the launch: cudaErrorInvalidConfiguration for a shape
/// that no kernel can have there, cudaErrorLaunchOutOfResources for one that this kernel's
/// registers or launch bounds forbid, and cudaErrorInvalidValue for dynamic shared memory that the
/// program has not asked for by cudaFuncSetAttribute.
cudaError_t check_limits(const LaunchShape& shape, const KernelFacts& kernel, const GpuModel& gpu);

/// Blocks of a kernel that a multiprocessor holds at once.
int resident_blocks(std::size_t block_threads, std::size_t dynamic_shared_bytes,
                    const KernelFacts& kernel, const GpuModel& gpu);

}  // namespace emulator
