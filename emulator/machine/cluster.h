#pragma once

#include <cstdint>
#include <vector>

#include "emulator/machine/foreign_uses.h"
#include "emulator/machine/thread_order.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

class Block;

/// The blocks of a cluster, which are resident together, and their barrier (PTX ISA,
/// barrier.cluster). A block of a launch without clusters is one of its own.
///
/// Not seen: of global memory, what a thread does between its arrival and the end of the barrier
/// counts as done before; so does what other threads of its warp do there.
class Cluster {
 public:
  /// `index` in the grid.
  explicit Cluster(std::uint64_t index) : index_(index) {}

  /// Blocks and warps come in the order of their ranks and numbers.
  void add(Block& block) { members_.push_back({.block = &block}); }
  void add(WarpState& warp) { members_.back().warps.push_back(&warp); }

  std::uint64_t index() const { return index_; }
  int size() const { return static_cast<int>(members_.size()); }
  Block& block(int rank) { return *members_[static_cast<std::size_t>(rank)].block; }

  /// Lanes of a warp arrive at the barrier. `releases`: what they did is ordered before.
  void arrive(WarpState& warp, Mask lanes, bool releases);
  /// Lanes wait for the phase at which they arrived. Returns those that go on at once.
  Mask pass(WarpState& warp, Mask lanes);
  /// Ends a phase at which all threads that there still are have arrived.
  void check();
  /// Whether a thread of the block is ordered behind what a thread of another one did.
  bool knows(int rank, const ThreadStamp& other) const;
  /// Whether a thread of the block has waited for an arrival behind the use.
  bool has_waited_for(int rank, const ForeignUse& use) const {
    return use.arrivals < members_[static_cast<std::size_t>(rank)].phases;
  }

 private:
  struct Member {
    Block* block = nullptr;
    std::vector<WarpState*> warps{};
    std::uint32_t phases = 0;  // for which a thread has waited
  };
  void acquire(Member& member, WarpState& warp, Mask lanes);
  void end_phase();
  Member& member_of(const WarpState& warp);

  const std::uint64_t index_;
  std::vector<Member> members_;
  bool has_arrivals_ = false, all_release_ = true, all_released_ = true;
  std::uint32_t phases_ = 0;  // that have ended
  Released released_, completed_;
};

}  // namespace emulator
