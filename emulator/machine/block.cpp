#include "emulator/machine/block.h"

#include <cstring>

#include "emulator/machine/special_registers.h"

namespace emulator {

Block::Block(const LaunchContext& launch, const BlockPlace& place, std::uint64_t seed)
    : counts(launch.counter != nullptr ? std::make_unique<Counts>() : nullptr),
      shared(launch.kernel.shared_bytes(launch.launch.dynamic_shared_bytes)),
      local(launch.local_bytes_per_thread() * launch.thread_positions.size()),
      shared_races(launch, shared.bytes.size(), order),
      global_races(launch, place.index, place.cluster_index, order.warps),
      barriers(order, global_races),
      launch_(launch),
      cluster_(place.cluster),
      index_(place.index),
      random_(seed) {
  const Dim3& grid = launch.launch.grid;
  position_ = {static_cast<unsigned>(index_ % grid.x),
               static_cast<unsigned>(index_ / grid.x % grid.y),
               static_cast<unsigned>(index_ / grid.x / grid.y)};
  if (launch.blocks_per_cluster() > 1) order.join_cluster(place.rank, global_races);
}

void Block::forget_local(int warp, int lane, std::size_t begin, std::size_t bytes) {
  if (bytes == 0) return;  // of a kernel that may have no local memory
  const auto thread = static_cast<std::size_t>(warp * warp_lanes + lane);
  std::memset(local.written.data() + thread * local_bytes_per_thread() + begin, 0, bytes);
}

AsyncCopies& Block::async() {
  if (async_ == nullptr) {
    async_ = std::make_unique<AsyncCopies>(launch_, shared, shared_races, random_);
  }
  return *async_;
}

Warpgroups& Block::warpgroups() {
  if (warpgroups_ == nullptr)
    warpgroups_ = std::make_unique<Warpgroups>(launch_, barriers.warps(), shared, shared_races,
                                               async().guards, random_);
  return *warpgroups_;
}

std::uint32_t Block::special(std::size_t special, int warp, int lane) const {
  return special_value(special, {launch_, index_, position_, shared.bytes.size(), warp, lane});
}

}  // namespace emulator
