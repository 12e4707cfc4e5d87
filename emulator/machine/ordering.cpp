#include "emulator/machine/ordering.h"

#include "emulator/machine/block.h"

namespace emulator {
namespace {

bool acquires(Order order) { return order == Order::acquire || order == Order::acquire_release; }
bool releases(Order order) { return order == Order::release || order == Order::acquire_release; }

void end_late_stores(Warp& warp) {
  const Block& block = warp.block();
  block.context().late_stores.end_all_of(block.index());
}

}  // namespace

void release_before(Warp& warp, const Code& code, int lane, const Target& target) {
  if (target.space == ptx::Space::shared) {
    const bool is_wide = releases(code.order) || has_lane(warp.widely_fenced, lane);
    if (is_wide || has_lane(warp.fenced, lane))
      owner_of(warp, target)
          .shared_races.release(warp, lane, target.offset, is_wide && !code.is_block_scope);
  } else if (target.window != nullptr) {
    if (releases(code.order)) end_late_stores(warp);
    warp.block().global_races.release(warp, lane, target, releases(code.order));
  }
}

void acquire_after(Warp& warp, const Code& code, int lane, const Target& target) {
  if (target.space == ptx::Space::shared) {
    SharedRaces& races = owner_of(warp, target).shared_races;
    if (acquires(code.order))
      races.acquire(warp, lane, target.offset, !code.is_block_scope);
    else
      warp.polled[static_cast<std::size_t>(lane)] = {&races, target.offset};
  } else if (target.window != nullptr) {
    warp.block().global_races.acquire(warp, target, acquires(code.order));
  }
}

void fence_lanes(Warp& warp, Mask lanes, bool whole_gpu) {
  warp.fenced |= lanes;
  if (whole_gpu) warp.widely_fenced |= lanes;
  for_lanes(lanes, [&](int lane) {
    WarpState::Polled& polled = warp.polled[static_cast<std::size_t>(lane)];
    if (polled.memory != nullptr) polled.memory->acquire(warp, lane, polled.offset, whole_gpu);
    polled = {};
  });
  if (!whole_gpu) return;
  end_late_stores(warp);
  warp.block().global_races.fence(warp, lanes);
}

void sync_lanes(Warp& warp, Mask lanes) {
  warp.clocks.synchronise(lanes, lanes, (warp.live() & ~lanes) == 0);
}

}  // namespace emulator
