#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "emulator/machine/clocks.h"
#include "emulator/machine/releases.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// The order of accesses to global memory (global_races.h), which goes with that of threads where a
/// cluster has several blocks.
class GlobalOrder {
 public:
  /// What a warp has done and knows, for the other blocks of its cluster.
  virtual void release_to(const WarpState& warp, Knowledge& released) = 0;
  virtual void acquire_from(const WarpState& warp, const Knowledge& released) = 0;

 protected:
  ~GlobalOrder() = default;
};

/// When a thread did something: clocks of its warp within the block, and of its lane within the
/// warp.
struct ThreadStamp {
  int rank = 0;  // of the block in its cluster
  int warp = 0, lane = 0;
  std::uint32_t in_block = 0, in_warp = 0;
};

/// Knows which accesses of others are ordered before those of a block's threads: of its own warps
/// exactly, of each other block of the cluster warp by warp.
///
/// Not seen: what a lane acquires counts for its whole warp.
class ThreadOrder {
 public:
  /// Who is ordered with whom among the warps of the block.
  Clocks warps;

  int rank() const { return rank_; }
  /// The block is one of several of a cluster. Its barriers and releases order global memory too.
  void join_cluster(int rank, GlobalOrder& global);

  ThreadStamp stamp(const WarpState& warp, int lane) const {
    return {rank_, warp.index(), lane, warps.own(warp.index()), warp.clocks.own(lane)};
  }
  bool ordered(const WarpState& warp, int lane, const ThreadStamp& other) const;
  /// What a warp knows of the warps of another block: the first clock that it does not know.
  Clocks::Row known(int warp, int rank) const;
  /// Whether a thread of the other block has done something before the warp's next instruction.
  bool has_met(int warp, int rank) const { return (of(warp).met >> rank & 1) != 0; }
  void meet(int warp, std::uint32_t ranks) { of(warp).met |= ranks; }

  void release_to(WarpState& warp, int lane, Released& released);
  /// Only the thread's own accesses, not those that it knows of.
  void release_own(WarpState& warp, int lane, Released& released);
  void acquire_from(WarpState& warp, int lane, const Released& released);

  /// A barrier of the block: `to` learn what `from` know and did.
  void synchronise(Mask from, Mask to, bool everyone);

 private:
  struct OfWarp {
    std::map<int, Clocks::Row> blocks{};  // of the cluster, by rank
    std::uint32_t met = 0;                // ranks
  };
  const OfWarp& of(int warp) const { return of_warps_[static_cast<std::size_t>(warp)]; }
  OfWarp& of(int warp) { return of_warps_[static_cast<std::size_t>(warp)]; }

  int rank_ = 0;
  GlobalOrder* global_ = nullptr;   // null: the cluster has one block
  std::vector<OfWarp> of_warps_{};  // empty: the cluster has one block
};

}  // namespace emulator
