#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/machine/counts/pipe.h"

namespace emulator {

/// Part of a line in which caches and memory are read and written.
inline constexpr std::uint64_t sector_bytes = 32;

/// Accesses to global memory.
struct GlobalCounts {
  std::uint64_t requests = 0;          // one for each instruction of a warp
  std::uint64_t lane_bytes = 0;        // asked for by threads
  std::uint64_t wide_bytes = 0;        // of them by accesses of 16 bytes
  std::uint64_t sectors = 0;           // touched, request by request
  std::uint64_t distinct_sectors = 0;  // touched by the launch
  GlobalCounts& operator+=(const GlobalCounts& other);
};

/// Counts that decide how fast a kernel can be. Instructions are those of PTX, for whole warps.
struct Counts {
  PipeCounts instructions{};
  std::uint64_t issued = 0;                // PTX instructions that a GPU issues
  std::uint64_t lanes = 0;                 // active in them
  std::uint64_t divisions = 0, calls = 0;  // by lanes
  std::uint64_t unknown = 0;
  GlobalCounts loads, stores, atomics;
  GlobalCounts polls;  // strong loads, which look again until another thread has stored
  std::uint64_t uniform_loads = 0;  // requests for one value for all lanes, which caches answer
  /// Number of times that a warp waited for loads of global memory. All loads between two waits are
  /// in flight together: ptxas moves loads up to the last branch, barrier, store or load that they
  /// depend on.
  std::uint64_t load_waits = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;        // in which banks serve them
  std::uint64_t least_shared_wavefronts = 0;  // without conflicts
  std::uint64_t local_requests = 0;
  Counts& operator+=(const Counts& other);
};

/// All launches of one kernel.
struct KernelCounts {
  std::string kernel, demangled;
  std::string_view ptx;  // of its module
  std::uint64_t launches = 0, blocks = 0;
  std::uint64_t threads_per_block = 0, shared_bytes_per_block = 0;  // of the last launch
  Counts counts;
};

/// Returns true if ASSAY_EMULATOR_COUNT is set. Kernels that are first used then keep what a count
/// needs, and only those are counted.
bool counts_wanted();
/// Counts launches from now on.
void start_counts();
bool is_counting();
/// Ends counting. Returns the counts in the order of the first launches.
std::vector<KernelCounts> take_counts();

/// Counts one launch, and adds it to its kernel's counts when it ends.
class LaunchCounter {
 public:
  /// `launch` lacks its counts; its GPU has [begin, end) of the address space.
  LaunchCounter(KernelCounts launch, std::uintptr_t begin, std::uintptr_t end);
  ~LaunchCounter();
  /// Adds a block that has ended.
  void add(const Counts& block);
  /// Returns true if the launch touches the sector for the first time. Thread-safe.
  bool is_first_load(std::uint64_t address);
  bool is_first_store(std::uint64_t address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace emulator
