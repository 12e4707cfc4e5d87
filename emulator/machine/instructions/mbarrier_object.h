#pragma once

#include <cstdint>

#include "emulator/machine/mbarrier.h"
#include "emulator/machine/warp.h"

// The objects that mbarrier and the asynchronous copies use.
namespace emulator {

/// Where the object is within shared memory. Throws LaneFault.
std::uint64_t mbarrier_offset(Warp& warp, ptx::Space space, int lane, std::uint64_t address);
/// Throws LaneFault unless one is there.
Mbarrier& mbarrier_at(Warp& warp, ptx::Space space, int lane, std::uint64_t address);
/// Throws LaneFault for a problem that an Mbarrier tells.
void check_mbarrier(Warp& warp, int lane, const Mbarrier& barrier, const char* problem);

}  // namespace emulator
