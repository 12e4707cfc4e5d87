#pragma once

#include <cstdint>
#include <vector>

#include "emulator/machine/counts/counts.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// Follows loads through registers, from one branch to the next. A load has level 1, or one more
/// than the highest level among the values that its address depends on. All loads of one level are
/// in flight together, and the first use of one of them waits for that level.
class LoadLevels {
 public:
  /// Called for each instruction of the warp; returns how many levels it waits for.
  unsigned follow(const Cost& cost, const Code& code, const Frame* frame, bool loads_global);

 private:
  struct Slot {
    std::uint32_t block = 0;
    std::uint32_t level = 0;
  };
  unsigned& level(Place place);
  unsigned sources(const Cost& cost, const Code& code);
  void end_block();

  const Frame* frame_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<Place> under_way_;
  std::uint32_t block_ = 1;
  unsigned awaited_ = 0;  // levels of this block
  unsigned none_ = 0;     // of places that are no registers
  unsigned ordered_ = 0;  // those that the last store came after
};

/// Counts the instructions of one warp.
class WarpCounter {
 public:
  WarpCounter(LaunchCounter& launch, Counts& counts) : launch_(launch), counts_(counts) {}
  /// Called before the instruction is executed by these lanes of a frame.
  void count(const Cost& cost, const Code& code, Mask lanes, const Frame& frame);

 private:
  void access(const Cost& cost, const Code& code, Mask lanes, ptx::Space space,
              const std::uint64_t* addresses);
  void global_access(GlobalCounts& counts, bool writes, const std::uint64_t* addresses, Mask lanes,
                     unsigned bytes);
  void shared_access(const std::uint64_t* addresses, Mask lanes, unsigned bytes);

  LaunchCounter& launch_;
  Counts& counts_;
  LoadLevels levels_;
};

}  // namespace emulator
