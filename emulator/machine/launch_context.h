#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/machine/counts/counts.h"
#include "emulator/machine/function_code.h"
#include "emulator/machine/late_stores.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/releases.h"
#include "emulator/numbers/warp_product.h"

namespace emulator {

/// Shared by all blocks of a launch.
struct LaunchContext {
  const KernelCode& kernel;
  const Launch& launch;
  const GpuModel& gpu;
  Memory& memory;
  const Settings& settings;
  Memory::Window window;  // of the launch's GPU
  Memory::Window managed_window;
  std::uint64_t number = 0;  // Memory::next_launch
  std::vector<std::byte> parameters{};
  Releases& releases;
  LateStores& late_stores;
  /// %tid of each thread of a block; filled up to whole warps.
  std::vector<std::array<std::uint32_t, 3>> thread_positions{};
  WarpUnits warp_units{gpu.name};
  LaunchCounter* counter = nullptr;  // null: nothing is counted
  Dim3 cluster{};                    // in blocks
  bool is_explicit_cluster = false;  // somebody has asked for clusters

  /// The window of managed memory for its addresses, and the GPU's for all others.
  const Memory::Window& window_at(std::uint64_t address) const {
    const bool is_managed =
        address - managed_window.begin < managed_window.end - managed_window.begin;
    return is_managed ? managed_window : window;
  }
  unsigned blocks_per_cluster() const { return cluster.x * cluster.y * cluster.z; }
  std::size_t local_bytes_per_thread() const {
    return kernel.local_bytes + (kernel.is_recursive ? launch.stack_bytes : 0);
  }
  /// "(x,y,z)" of a thread of a block.
  std::string name_of_thread(int thread) const {
    const auto& [x, y, z] = thread_positions[static_cast<std::size_t>(thread)];
    return fmt::format("({},{},{})", x, y, z);
  }
};

}  // namespace emulator
