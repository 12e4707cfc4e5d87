#pragma once

#include <cstdint>

#include "emulator/machine/async_copy.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/target.h"
#include "emulator/machine/warp.h"

// The objects that mbarrier and the asynchronous copies use.
namespace emulator {

/// Where the object is within shared memory. Throws LaneFault for one of another block of the
/// cluster, unless the space is that of the cluster.
Target mbarrier_place(Warp& warp, ptx::Space space, int lane, std::uint64_t address);
/// Throws LaneFault unless one is there.
Mbarrier& mbarrier_at(Warp& warp, ptx::Space space, int lane, std::uint64_t address);
/// Starts a copy to shared memory of a block of the cluster, which the mbarrier object at
/// `barrier` counts. Throws LaneFault unless the object is that block's.
void start_at(Warp& warp, int lane, AsyncCopy copy, const Target& to, ptx::Space space,
              std::uint64_t barrier);
/// Throws LaneFault for a problem that an Mbarrier tells.
void check_mbarrier(Warp& warp, int lane, const Mbarrier& barrier, const char* problem);

}  // namespace emulator
