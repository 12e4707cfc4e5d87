#include "emulator/machine/block.h"

#include "emulator/machine/special_registers.h"

namespace emulator {

Block::Block(const LaunchContext& launch, std::uint64_t index, std::uint64_t seed)
    : counts(launch.counter != nullptr ? std::make_unique<Counts>() : nullptr),
      shared(launch.kernel.shared_bytes(launch.launch.dynamic_shared_bytes)),
      local(launch.kernel.local_bytes * launch.launch.block.x * launch.launch.block.y *
            launch.launch.block.z),
      shared_races(launch, shared.bytes.size()),
      global_races(launch, index),
      barriers(shared_races, global_races),
      launch_(launch),
      index_(index),
      random_(seed) {
  const Dim3& grid = launch.launch.grid;
  position_ = {static_cast<unsigned>(index % grid.x),
               static_cast<unsigned>(index / grid.x % grid.y),
               static_cast<unsigned>(index / grid.x / grid.y)};
}

AsyncCopies& Block::async() {
  if (async_ == nullptr) {
    async_ = std::make_unique<AsyncCopies>(launch_, shared, shared_races, random_);
  }
  return *async_;
}

std::uint32_t Block::special(std::size_t special, int warp, int lane) const {
  return special_value(special, {launch_, index_, position_, shared.bytes.size(), warp, lane});
}

}  // namespace emulator
