#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "emulator/machine/global_races.h"
#include "emulator/machine/thread_order.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// The barriers of a block.
class Barriers {
 public:
  Barriers(ThreadOrder& thread_order, GlobalRaces& global_races)
      : thread_order_(thread_order), global_races_(global_races) {}

  void add(WarpState& warp) { warps_.push_back(&warp); }
  const std::vector<WarpState*>& warps() const { return warps_; }
  void arrive(int barrier, std::uint32_t warps_expected, int warp);  // without waiting
  /// Completes those at which all have arrived.
  void check();
  /// Warps that completed barriers have let go on since the last call.
  std::uint64_t take_woken() { return std::exchange(woken_, 0); }

  /// The cluster's barrier lets a warp go on.
  void wake(int warp) { woken_ |= std::uint64_t{1} << warp; }

 private:
  void complete(int barrier);
  void order(int barrier);

  ThreadOrder& thread_order_;
  GlobalRaces& global_races_;
  std::vector<WarpState*> warps_;
  std::uint64_t woken_ = 0;
  std::array<std::uint32_t, 16> early_arrivals_{};  // bar.arrive
  std::array<Mask, 16> early_warps_{};
  std::array<std::uint32_t, 16> expected_{};
};

}  // namespace emulator
