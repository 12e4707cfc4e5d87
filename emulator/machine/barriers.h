#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "emulator/machine/global_races.h"
#include "emulator/machine/shared_races.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// The barriers of a block.
class Barriers {
 public:
  Barriers(SharedRaces& shared_races, GlobalRaces& global_races)
      : shared_races_(shared_races), global_races_(global_races) {}

  void add(WarpState& warp) { warps_.push_back(&warp); }
  const std::vector<WarpState*>& warps() const { return warps_; }
  void arrive(int barrier, std::uint32_t warps_expected, int warp);  // without waiting
  /// Completes those at which all have arrived.
  void check();
  /// Warps that completed barriers have let go on since the last call.
  std::uint64_t take_woken() { return std::exchange(woken_, 0); }

 private:
  void complete(int barrier);
  void order(int barrier);

  SharedRaces& shared_races_;
  GlobalRaces& global_races_;
  std::vector<WarpState*> warps_;
  std::uint64_t woken_ = 0;
  std::array<std::uint32_t, 16> early_arrivals_{};  // bar.arrive
  std::array<Mask, 16> early_warps_{};
  std::array<std::uint32_t, 16> expected_{};
};

}  // namespace emulator
