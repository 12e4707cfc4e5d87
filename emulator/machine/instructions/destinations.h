#pragma once

#include <cstdint>
#include <vector>

#include "emulator/machine/code.h"
#include "emulator/machine/warp.h"

namespace emulator {

/// Addresses of shared memory of one block: where a bulk copy goes, and the mbarrier object that
/// counts it.
struct Destination {
  std::uint64_t to, barrier;
};

/// Those of a lane's copy: its operands, or, with .multicast::cluster, the same places of each
/// block of the cluster that the mask names. Throws LaneFault for a mask of none, or of blocks that
/// the cluster has not.
std::vector<Destination> destinations_of(Warp& warp, const CopySite& site, int lane);

}  // namespace emulator
