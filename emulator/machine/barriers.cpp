#include "emulator/machine/barriers.h"

#include <bit>

namespace emulator {

void Barriers::arrive(int barrier, std::uint32_t warps_expected, int warp) {
  early_warps_[static_cast<std::size_t>(barrier)] |= Mask{1} << warp;
  ++early_arrivals_[static_cast<std::size_t>(barrier)];
  expected_[static_cast<std::size_t>(barrier)] = warps_expected;
  check();
}

/// A warp has arrived when all of its lanes that have not exited wait (PTX ISA, barrier).
void Barriers::check() {
  std::array<std::uint32_t, 16> arrived = early_arrivals_, expected = expected_;
  std::array<bool, 16> all{};
  std::uint32_t live_warps = 0, used = 0;
  for (WarpState* warp : warps_) {
    if (warp->live() == 0) continue;
    ++live_warps;
    Mask waiting = 0;
    std::size_t barrier = 16;
    for (const Split& split : warp->splits()) {
      if (split.wait != Wait::block_barrier) continue;
      if (barrier == 16) barrier = static_cast<std::size_t>(split.barrier);
      if (barrier != static_cast<std::size_t>(split.barrier)) continue;
      waiting |= split.lanes;
      if (split.warps == 0)
        all[barrier] = true;
      else
        expected[barrier] = split.warps;
    }
    if (barrier == 16 || waiting != warp->live()) continue;
    ++arrived[barrier];
    used |= 1u << barrier;
  }
  for (; used != 0; used &= used - 1) {
    const int barrier = std::countr_zero(used);
    const std::uint32_t needed = all[static_cast<std::size_t>(barrier)]
                                     ? live_warps
                                     : expected[static_cast<std::size_t>(barrier)];
    if (arrived[static_cast<std::size_t>(barrier)] >= needed) complete(barrier);
  }
}

/// Tells the search for races who has met whom.
void Barriers::order(int barrier) {
  Mask waiting = 0, live = 0;
  for (WarpState* warp : warps_) {
    if (warp->live() == 0) continue;
    live |= Mask{1} << warp->index();
    Mask lanes = 0;
    for (const Split& split : warp->splits())
      if (split.wait == Wait::block_barrier && split.barrier == barrier) lanes |= split.lanes;
    if (lanes == 0) continue;
    waiting |= Mask{1} << warp->index();
    warp->clocks.synchronise(lanes, lanes, (warp->live() & ~lanes) == 0);
  }
  Mask& early = early_warps_[static_cast<std::size_t>(barrier)];
  thread_order_.synchronise(waiting | early, waiting, (live & ~waiting) == 0);
  early = 0;
  global_races_.next_epoch();
}

void Barriers::complete(int barrier) {
  early_arrivals_[static_cast<std::size_t>(barrier)] = 0;
  order(barrier);
  // The reductions of bar.red: `c` is the predicate, `variant` the operation.
  std::uint32_t count = 0;
  bool every = true;
  const auto waits = [barrier](const Split& split) {
    return split.wait == Wait::block_barrier && split.barrier == barrier;
  };
  for (WarpState* warp : warps_) {
    for (const Split& split : warp->splits()) {
      if (!waits(split) || split.waits_at->variant == 0) continue;
      Mask predicate = *reinterpret_cast<const Mask*>(split.frame->at(split.waits_at->c));
      if (split.waits_at->flag) predicate = ~predicate;
      count += static_cast<std::uint32_t>(std::popcount(predicate & split.lanes));
      every &= (~predicate & split.lanes) == 0;
    }
  }
  for (WarpState* warp : warps_) {
    for (Split& split : warp->splits()) {
      if (!waits(split)) continue;
      split.wait = Wait::none;
      woken_ |= std::uint64_t{1} << warp->index();
      const Code& code = *split.waits_at;
      std::byte* slot = split.frame->registers + code.d.offset;
      if (code.variant == 1)
        for_lanes(split.lanes,
                  [&](int lane) { reinterpret_cast<std::uint32_t*>(slot)[lane] = count; });
      if (code.variant < 2) continue;
      Mask& result = *reinterpret_cast<Mask*>(slot);
      const bool value = code.variant == 2 ? every : count != 0;
      result = value ? result | split.lanes : result & ~split.lanes;
    }
  }
}

}  // namespace emulator
