#include "emulator/runtime/limits.h"

#include <algorithm>

namespace emulator {
namespace {

constexpr std::size_t max_parameter_bytes = 32764;
/// Registers are given to a warp in such portions.
constexpr std::size_t register_portion = 256;

std::size_t rounded_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

std::size_t registers_of_block(std::size_t threads, const KernelFacts& kernel) {
  const std::size_t warps = rounded_up(threads, warp_threads) / warp_threads;
  const auto registers = static_cast<std::size_t>(std::max(kernel.registers, 1));
  return warps * rounded_up(registers * warp_threads, register_portion);
}

/// From 8.0 on the system takes a part of shared memory for each block.
std::size_t reserved_shared_bytes(const GpuModel& gpu) { return gpu.major >= 8 ? 1024 : 0; }

bool is_possible(const dim3& block, const dim3& grid) {
  const auto threads = std::size_t{block.x} * block.y * block.z;
  return threads > 0 && threads <= max_threads_per_block && block.x <= max_threads_per_block &&
         block.y <= max_threads_per_block && block.z <= max_block_z && grid.x > 0 && grid.y > 0 &&
         grid.z > 0 && grid.x <= max_grid_x && grid.y <= max_grid_yz && grid.z <= max_grid_yz;
}

}  // namespace

cudaError_t check_limits(const LaunchShape& shape, const KernelFacts& kernel, const GpuModel& gpu) {
  const dim3& block = shape.block;
  if (!is_possible(block, shape.grid)) return cudaErrorInvalidConfiguration;
  const auto& required = kernel.required_threads;
  if (required[0] != 0 &&
      (block.x != required[0] || block.y != required[1] || block.z != required[2])) {
    return cudaErrorInvalidConfiguration;
  }
  if (shape.dynamic_shared_bytes + kernel.static_shared_bytes > gpu.shared_bytes_per_block_optin) {
    return cudaErrorInvalidConfiguration;
  }
  if (shape.dynamic_shared_bytes > shape.max_dynamic_shared_bytes) return cudaErrorInvalidValue;
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (kernel.max_threads > 0 && threads > static_cast<std::size_t>(kernel.max_threads)) {
    return cudaErrorLaunchOutOfResources;
  }
  if (registers_of_block(threads, kernel) >
      static_cast<std::size_t>(gpu.registers_per_multiprocessor)) {
    return cudaErrorLaunchOutOfResources;
  }
  if (kernel.parameter_bytes > max_parameter_bytes) return cudaErrorLaunchOutOfResources;
  return cudaSuccess;
}

int resident_blocks(std::size_t block_threads, std::size_t dynamic_shared_bytes,
                    const KernelFacts& kernel, const GpuModel& gpu) {
  const std::size_t threads = rounded_up(block_threads, warp_threads);
  const std::size_t shared =
      kernel.static_shared_bytes + dynamic_shared_bytes + reserved_shared_bytes(gpu);
  std::size_t blocks = std::min(static_cast<std::size_t>(gpu.blocks_per_multiprocessor),
                                static_cast<std::size_t>(gpu.threads_per_multiprocessor) / threads);
  blocks = std::min(blocks, static_cast<std::size_t>(gpu.registers_per_multiprocessor) /
                                registers_of_block(block_threads, kernel));
  if (shared > 0) blocks = std::min(blocks, gpu.shared_bytes_per_multiprocessor / shared);
  return static_cast<int>(blocks);
}

}  // namespace emulator
