#pragma once

#include <cstddef>

#include "emulator/machine/access.h"
#include "emulator/machine/warp.h"

// Orders between accesses of different threads, for the search for races.
namespace emulator {

/// A strong write is about to happen: it releases what the lane's last fence covers, or all if it
/// has release semantics.
void release_before(Warp& warp, const Code& code, int lane, const Target& target);
/// A strong read has happened: it acquires what was released at the target, at once with acquire
/// semantics, else at the lane's next fence. `released`: of an older value, what came with it.
inline constexpr std::size_t all_released = ~std::size_t{0};
void acquire_after(Warp& warp, const Code& code, int lane, const Target& target,
                   std::size_t released = all_released);
void fence_lanes(Warp& warp, Mask lanes, Scope scope);
/// A barrier of a warp among `lanes`.
void sync_lanes(Warp& warp, Mask lanes);

}  // namespace emulator
