#include "emulator/machine/block.h"

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

std::uint32_t Block::special(Special special, int warp, int lane) const {
  const Dim3 &block = launch_.launch.block, &grid = launch_.launch.grid;
  const auto thread = static_cast<std::uint32_t>(warp * warp_lanes + lane);
  const Mask bit = Mask{1} << lane;
  switch (special) {
    case Special::tid_x:
      return launch_.thread_positions[thread][0];
    case Special::tid_y:
      return launch_.thread_positions[thread][1];
    case Special::tid_z:
      return launch_.thread_positions[thread][2];
    case Special::ntid_x:
      return block.x;
    case Special::ntid_y:
      return block.y;
    case Special::ntid_z:
      return block.z;
    case Special::ctaid_x:
      return position_.x;
    case Special::ctaid_y:
      return position_.y;
    case Special::ctaid_z:
      return position_.z;
    case Special::nctaid_x:
      return grid.x;
    case Special::nctaid_y:
      return grid.y;
    case Special::nctaid_z:
      return grid.z;
    case Special::laneid:
      return static_cast<std::uint32_t>(lane);
    case Special::warpid:
      return static_cast<std::uint32_t>(warp);
    case Special::nwarpid:
      return static_cast<std::uint32_t>(launch_.gpu.threads_per_multiprocessor / warp_lanes);
    case Special::smid:
      return static_cast<std::uint32_t>(index_ %
                                        static_cast<unsigned>(launch_.gpu.multiprocessors));
    case Special::nsmid:
      return static_cast<std::uint32_t>(launch_.gpu.multiprocessors);
    case Special::gridid:
      return static_cast<std::uint32_t>(launch_.number);
    case Special::lanemask_eq:
      return bit;
    case Special::lanemask_lt:
      return bit - 1;
    case Special::lanemask_le:
      return bit | (bit - 1);
    case Special::lanemask_ge:
      return ~(bit - 1);
    case Special::lanemask_gt:
      return ~(bit | (bit - 1));
    case Special::aggr_smem_size:
    case Special::total_smem_size:
      return static_cast<std::uint32_t>(shared.bytes.size());
    case Special::dynamic_smem_size:
      return static_cast<std::uint32_t>(launch_.launch.dynamic_shared_bytes);
    case Special::reserved_zero:
      return 0;
  }
  return 0;
}

}  // namespace emulator
