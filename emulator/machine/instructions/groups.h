#pragma once

#include <fmt/format.h>

#include "emulator/machine/ordering.h"
#include "emulator/machine/warp.h"

// Instructions marked .sync, which the lanes of a mask execute together.
namespace emulator {

/// Calls `f(group)` for the lanes that name the same members, once all of these have come.
template <class F>
void for_each_group(Warp& warp, const Code& code, Mask lanes, Place members_place,
                    bool at_any_place, F f) {
  const auto* members = warp.at<std::uint32_t>(members_place);
  Mask rest = lanes;
  while (rest != 0) {
    const Mask named = members[std::countr_zero(rest)];
    Mask group = 0;
    for_lanes(rest, [&](int lane) { group |= members[lane] == named ? Mask{1} << lane : 0; });
    rest &= ~group;
    if ((group & ~named) != 0)
      warp.fault(FaultKind::divergent_barrier, std::countr_zero(group & ~named),
                 fmt::format("the mask {:#010x} does not name the lane itself", named));
    if (!warp.gather(code, group, named, at_any_place)) continue;
    sync_lanes(warp, named & warp.live());
    f(group);
  }
}

}  // namespace emulator
