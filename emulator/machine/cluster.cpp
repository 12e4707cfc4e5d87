#include "emulator/machine/cluster.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/machine/block.h"

namespace emulator {

Cluster::Member& Cluster::member_of(const WarpState& warp) {
  return members_[static_cast<std::size_t>(warp.order->rank())];
}

void Cluster::arrive(WarpState& warp, Mask lanes, bool releases) {
  const int first = std::countr_zero(lanes);
  if (((warp.cluster_arrived | warp.cluster_passed) & lanes) != 0)
    warp.fault(FaultKind::undefined, first,
               "arrives at the cluster's barrier again, and has not waited for the phase before");
  warp.cluster_arrived |= lanes;
  has_arrivals_ = true;
  all_release_ &= releases;
  for_lanes(lanes, [&](int lane) { ++warp.cluster_arrivals[static_cast<std::size_t>(lane)]; });
  if (releases) {
    warp.clocks.synchronise(lanes, lanes, (warp.live() & ~lanes) == 0);
    warp.order->release_to(warp, first, released_);
  }
  check();
}

Mask Cluster::pass(WarpState& warp, Mask lanes) {
  const Mask strangers = lanes & ~(warp.cluster_arrived | warp.cluster_passed);
  if (strangers != 0)
    warp.fault(FaultKind::undefined, std::countr_zero(strangers),
               "waits for the cluster's barrier without having arrived");
  const Mask passing = lanes & warp.cluster_passed;
  if (passing != 0) acquire(member_of(warp), warp, passing);
  return passing;
}

void Cluster::acquire(Member& member, WarpState& warp, Mask lanes) {
  ThreadOrder& order = *warp.order;
  warp.cluster_passed &= ~lanes;
  member.phases = phases_;
  if (size() > 1) order.meet(warp.index(), (1u << size()) - 1);
  const bool are_all = (warp.live() & ~lanes) == 0;
  for_lanes(are_all ? lanes & (~lanes + 1) : lanes,
            [&](int lane) { order.acquire_from(warp, lane, completed_); });
  if (are_all && !completed_.blocks.empty()) warp.clocks.synchronise(lanes, lanes, true);
  Mask live_warps = 0;
  for (const WarpState* each : member.warps) {
    if ((each->cluster_passed & each->live()) != 0) return;
    if (each->live() != 0) live_warps |= Mask{1} << each->index();
  }
  order.warps.settle(live_warps);
  if (ForeignUses* foreign = member.block->shared_races.foreign())
    foreign->forget(all_released_ ? phases_ : 0);
}

bool Cluster::knows(int rank, const ThreadStamp& other) const {
  return std::ranges::any_of(
      members_[static_cast<std::size_t>(rank)].warps,
      [&](const WarpState* warp) { return warp->order->ordered(*warp, 0, other); });
}

void Cluster::check() {
  if (!has_arrivals_) return;
  const auto is_here = [](const WarpState* warp) {
    return (warp->live() & ~warp->cluster_arrived) == 0;
  };
  for (const Member& member : members_)
    if (!std::ranges::all_of(member.warps, is_here)) return;
  end_phase();
}

void Cluster::end_phase() {
  ++phases_;
  has_arrivals_ = false;
  all_released_ = std::exchange(all_release_, true);
  completed_ = std::exchange(released_, {});
  for (Member& member : members_)
    for (WarpState* warp : member.warps)
      warp->cluster_passed |= std::exchange(warp->cluster_arrived, 0) & warp->live();
  for (Member& member : members_) {
    // All warps go on with one clock, which nobody knows yet.
    member.block->order.warps.synchronise(all_lanes, 0, false);
    member.block->global_races.next_epoch();
    for (WarpState* warp : member.warps) {
      Mask waiting = 0;
      for (Split& split : warp->splits()) {
        if (split.wait != Wait::cluster_barrier) continue;
        split.wait = Wait::none;
        waiting |= split.lanes;
      }
      if (waiting == 0) continue;
      member.block->barriers.wake(warp->index());
      acquire(member, *warp, waiting);
    }
  }
}

}  // namespace emulator
