#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/machine/block.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/warp.h"

namespace emulator {

/// A block of threads that has started. One host thread at a time runs it.
class ResidentBlock final : private FindingSink {
 public:
  /// blocked: its warps wait for other blocks of the cluster.
  enum class Result { ran, spins, blocked, done };

  ResidentBlock(const LaunchContext& launch, Cluster& cluster, int rank, std::uint64_t index,
                std::uint64_t seed);
  ResidentBlock(const ResidentBlock&) = delete;
  ResidentBlock& operator=(const ResidentBlock&) = delete;

  /// Runs its warps in turn, about `instructions` of them. Throws Fault.
  Result run(int instructions);
  std::uint64_t executed_lanes() const;
  const Counts& counts() const { return *block_.counts; }

  Block& block() { return block_; }
  bool has_ended() const { return block_.has_ended; }
  /// Whether no warp goes on before another block does something.
  bool only_waits();
  /// Whether all of them wait at barriers.
  bool is_blocked() const { return ready_ == 0; }
  /// Throws the fault of warps that wait for ever.
  [[noreturn]] void stuck();
  /// Tells of a thread's use of another block's shared memory which nothing orders before that
  /// block's end.
  void tell_of_use(const ForeignUse& use);

 private:
  bool nobody_goes_on();
  void end_copies();
  void end_warpgroups();
  bool goes_on_after(const WarpState& warp, const LaneFault& finding) override;
  bool goes_on_at(const Warp& warp, const Code& code, const Frame* frame,
                  const LaneFault& finding) const;
  Dim3 position_of(const WarpState& warp) const;
  Fault fault_at(const WarpState& warp, const Code& code, const Frame* frame,
                 const LaneFault& fault) const;

  Block block_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::uint64_t ready_ = 0;         // warps that may run
  std::uint64_t seen_changes_ = 0;  // of mbarrier objects
  int idle_rounds_ = 0;
};

}  // namespace emulator
