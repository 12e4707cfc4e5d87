#include "emulator/machine/thread_order.h"

#include <algorithm>

namespace emulator {
namespace {

std::uint32_t& at(Clocks::Row& row, int member) { return row[static_cast<std::size_t>(member)]; }

}  // namespace

void ThreadOrder::join_cluster(int rank, GlobalOrder& global) {
  rank_ = rank;
  global_ = &global;
  of_warps_.resize(warp_lanes);
}

bool ThreadOrder::ordered(const WarpState& warp, int lane, const ThreadStamp& other) const {
  if (other.rank != rank_) {
    const auto& blocks = of(warp.index()).blocks;
    const auto found = blocks.find(other.rank);
    return found != blocks.end() &&
           other.in_block < found->second[static_cast<std::size_t>(other.warp)];
  }
  if (other.warp == warp.index()) return warp.clocks.ordered(lane, other.lane, other.in_warp);
  return warps.ordered(warp.index(), other.warp, other.in_block);
}

Clocks::Row ThreadOrder::known(int warp, int rank) const {
  const auto& blocks = of(warp).blocks;
  const auto found = blocks.find(rank);
  return found == blocks.end() ? Clocks::Row{} : found->second;
}

void ThreadOrder::release_to(WarpState& warp, int lane, Released& released) {
  Released::OfBlock& own = released.blocks[rank_];
  Clocks::join(own.warps, warps.release(warp.index()));
  Clocks::join(own.lanes_of_warp[warp.index()], warp.clocks.release(lane));
  if (global_ == nullptr) return;
  for (const auto& [rank, row] : of(warp.index()).blocks)
    Clocks::join(released.blocks[rank].warps, row);
  global_->release_to(warp, released.global);
}

void ThreadOrder::release_own(WarpState& warp, int lane, Released& released) {
  const auto release = [](Clocks& of, int member, Clocks::Row& row) {
    Clocks::Row known = of.release(member);
    at(row, member) = std::max(at(row, member), at(known, member));
  };
  Released::OfBlock& own = released.blocks[rank_];
  release(warps, warp.index(), own.warps);
  release(warp.clocks, lane, own.lanes_of_warp[warp.index()]);
}

void ThreadOrder::acquire_from(WarpState& warp, int lane, const Released& released) {
  for (const auto& [rank, block] : released.blocks) {
    if (rank != rank_) {
      Clocks::join(of(warp.index()).blocks[rank], block.warps);
      meet(warp.index(), 1u << rank);
      continue;
    }
    warps.acquire(warp.index(), block.warps);
    if (const auto own = block.lanes_of_warp.find(warp.index()); own != block.lanes_of_warp.end())
      warp.clocks.acquire(lane, own->second);
  }
  if (global_ != nullptr) global_->acquire_from(warp, released.global);
}

void ThreadOrder::synchronise(Mask from, Mask to, bool everyone) {
  warps.synchronise(from, to, everyone);
  if (global_ == nullptr) return;
  OfWarp joined;
  for_lanes(from, [&](int warp) {
    joined.met |= of(warp).met;
    for (const auto& [rank, row] : of(warp).blocks) Clocks::join(joined.blocks[rank], row);
  });
  for_lanes(to, [&](int warp) {
    meet(warp, joined.met);
    for (const auto& [rank, row] : joined.blocks) Clocks::join(of(warp).blocks[rank], row);
  });
}

}  // namespace emulator
