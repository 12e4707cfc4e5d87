#pragma once

#include <fmt/format.h>

#include "emulator/machine/decoder.h"
#include "emulator/machine/warp.h"

// Instructions marked .sync.aligned, which a warp executes as a whole. Unlike a barrier they order
// no accesses to memory.
namespace emulator {

/// Whether all 32 lanes are at this instruction; else they wait.
inline bool gather_warp(Warp& warp, const Code& code, Mask lanes) {
  if (const Mask gone = ~warp.live(); gone != 0)
    warp.fault(FaultKind::divergent_barrier, std::countr_zero(lanes),
               fmt::format("the whole warp is needed, but there are no lanes {:#010x}", gone));
  return warp.gather(code, lanes, all_lanes);
}

inline void take_collective(Decoder& decoder) {
  decoder.expect("sync");
  decoder.expect("aligned");
}

}  // namespace emulator
