#include "emulator/machine/instructions/destinations.h"

#include <fmt/format.h>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/cluster_addresses.h"

namespace emulator {

std::vector<Destination> destinations_of(Warp& warp, const CopySite& site, int lane) {
  namespace places = cluster_addresses;
  const std::uint64_t to = lane_address(warp, site.to, lane),
                      barrier = lane_address(warp, site.barrier, lane);
  if (!site.has_blocks) return {{to, barrier}};
  const unsigned mask = warp.at<std::uint16_t>(site.blocks)[lane];
  const int size = warp.block().cluster().size(), own = warp.block().order.rank();
  if (mask == 0 || mask >> size != 0)
    warp.fault(FaultKind::undefined, lane,
               fmt::format("a copy to the blocks {:#06x} of a cluster of {}", mask, size));
  std::vector<Destination> all;
  for (int rank = 0; rank < size; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    const auto in_block = [&](std::uint64_t address) {
      const std::uint64_t offset = places::offset_of(address);
      return rank == own ? offset : places::mapped(offset, static_cast<std::uint64_t>(rank));
    };
    all.push_back({in_block(to), in_block(barrier)});
  }
  return all;
}

}  // namespace emulator
