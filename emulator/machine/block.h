#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/machine/async_copies.h"
#include "emulator/machine/counts/counts.h"
#include "emulator/machine/function_code.h"
#include "emulator/machine/global_races.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/random.h"
#include "emulator/machine/shared_races.h"
#include "emulator/machine/warp.h"
#include "emulator/numbers/warp_product.h"

namespace emulator {

/// Shared by all blocks of a launch.
struct LaunchContext {
  const KernelCode& kernel;
  const Launch& launch;
  const GpuModel& gpu;
  Memory& memory;
  const Settings& settings;
  Memory::Window window;     // of the launch's GPU
  std::uint64_t number = 0;  // Memory::next_launch
  std::vector<std::byte> parameters{};
  Releases& releases;
  /// %tid of each thread of a block; filled up to whole warps.
  std::vector<std::array<std::uint32_t, 3>> thread_positions{};
  WarpUnits warp_units{gpu.name};
  LaunchCounter* counter = nullptr;  // null: nothing is counted
};

/// Bytes of shared or local memory with a mark for each that has been written.
struct MarkedBytes {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> written;
  explicit MarkedBytes(std::size_t size) : bytes(size), written(size) {}
};

/// The allocation that the last slow access hit.
struct AllocationCache {
  std::uint64_t generation = 0;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  int owner = host;
};

/// A block of threads that has started. One host thread at a time runs it.
class Block {
 public:
  enum class Result { ran, spins, done };

  Block(const LaunchContext& launch, std::uint64_t index, std::uint64_t seed);
  ~Block();

  /// Runs its warps in turn, about `instructions` of them. Throws Fault.
  Result run(int instructions);

  const LaunchContext& context() const { return launch_; }
  std::uint64_t index() const { return index_; }
  Dim3 position() const { return position_; }
  unsigned threads() const { return threads_; }
  std::vector<std::unique_ptr<Warp>>& warps() { return warps_; }
  Random& random() { return random_; }
  std::size_t shared_bytes() const { return shared.bytes.size(); }
  std::size_t local_bytes_per_thread() const { return launch_.kernel.local_bytes; }
  std::uint64_t executed_lanes() const;

  // For the instructions.
  void arrive(int barrier, std::uint32_t warps_expected, int warp);  // without waiting
  void check_barriers();
  std::uint32_t special(Special special, int warp, int lane) const;

  std::unique_ptr<Counts> counts;  // null: nothing is counted
  MarkedBytes shared;
  MarkedBytes local;  // one thread's behind the other's
  AllocationCache allocation;

  SharedRaces shared_races;
  GlobalRaces global_races;
  /// Made at the first use.
  AsyncCopies& async();
  bool has_async() const { return async_ != nullptr; }

 private:
  void complete(int barrier);
  void order(int barrier);
  [[noreturn]] void stuck();
  bool nobody_goes_on();
  void end_copies();
  [[noreturn]] void report(Warp& warp, const LaneFault& fault);
  [[noreturn]] void report_at(const Warp& warp, const Code& code, const Frame* frame,
                              const LaneFault& fault);

  const LaunchContext& launch_;
  const std::uint64_t index_;
  Dim3 position_;
  unsigned threads_;
  Random random_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::uint64_t ready_ = 0;                         // warps that may run
  std::array<std::uint32_t, 16> early_arrivals_{};  // bar.arrive
  std::array<Mask, 16> early_warps_{};

  std::array<std::uint32_t, 16> expected_{};

  std::unique_ptr<AsyncCopies> async_;
  std::uint64_t seen_changes_ = 0;  // of mbarrier objects
  int idle_rounds_ = 0;
};

}  // namespace emulator
