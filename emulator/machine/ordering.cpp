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
          .shared_races.release(warp, lane, target.offset, is_wide && code.scope != Scope::block);
  } else if (target.window != nullptr) {
    if (releases(code.order)) end_late_stores(warp);
    warp.block().global_races.release(warp, lane, target, releases(code.order),
                                      code.scope != Scope::cluster);
  }
}

void acquire_after(Warp& warp, const Code& code, int lane, const Target& target,
                   std::size_t released) {
  if (target.space == ptx::Space::shared) {
    SharedRaces& races = owner_of(warp, target).shared_races;
    if (acquires(code.order))
      races.acquire(warp, lane, target.offset, code.scope != Scope::block);
    else
      warp.polled[static_cast<std::size_t>(lane)] = {&races, target.offset};
  } else if (target.window != nullptr) {
    warp.block().global_races.acquire(warp, target, acquires(code.order),
                                      code.scope != Scope::cluster, released);
  }
}

void fence_lanes(Warp& warp, Mask lanes, Scope scope) {
  const bool is_wide = scope != Scope::block;
  warp.fenced |= lanes;
  if (is_wide) warp.widely_fenced |= lanes;
  for_lanes(lanes, [&](int lane) {
    WarpState::Polled& polled = warp.polled[static_cast<std::size_t>(lane)];
    if (polled.memory != nullptr) polled.memory->acquire(warp, lane, polled.offset, is_wide);
    polled = {};
  });
  if (!is_wide) return;
  end_late_stores(warp);
  warp.block().global_races.fence(warp, lanes, scope == Scope::gpu);
}

void sync_lanes(Warp& warp, Mask lanes) {
  warp.clocks.synchronise(lanes, lanes, (warp.live() & ~lanes) == 0);
}

}  // namespace emulator
