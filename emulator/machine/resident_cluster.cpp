#include "emulator/machine/resident_cluster.h"

#include <algorithm>
#include <bit>

namespace emulator {
namespace {

using Result = ResidentBlock::Result;

/// A block is overtaken by another one of its cluster after a number of instructions between these.
constexpr int min_turn = 50, max_turn = 4000;
/// So often all threads find a phase of an mbarrier object open before that counts as for ever.
constexpr int max_idle_rounds = 200;

/// The index in the grid of the block with this rank in a cluster.
std::uint64_t index_of_block(const LaunchContext& launch, std::uint64_t cluster, unsigned rank) {
  const Dim3 &grid = launch.launch.grid, &extent = launch.cluster;
  const std::uint64_t across = grid.x / extent.x, down = grid.y / extent.y;
  const std::uint64_t x = cluster % across * extent.x + rank % extent.x,
                      y = cluster / across % down * extent.y + rank / extent.x % extent.y,
                      z = cluster / across / down * extent.z + rank / extent.x / extent.y;
  return (z * grid.y + y) * grid.x + x;
}

}  // namespace

ResidentCluster::ResidentCluster(const LaunchContext& launch, std::uint64_t index,
                                 std::uint64_t seed)
    : cluster_(index), random_(mix(seed ^ index)) {
  for (unsigned rank = 0; rank < launch.blocks_per_cluster(); ++rank) {
    const std::uint64_t block = index_of_block(launch, index, rank);
    blocks_.push_back(std::make_unique<ResidentBlock>(launch, cluster_, static_cast<int>(rank),
                                                      block, mix(seed ^ mix(block + 1))));
  }
}

Result ResidentCluster::run(int instructions) {
  if (blocks_.size() == 1) return blocks_.front()->run(instructions);
  std::uint32_t running = 0;
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank)
    if (!blocks_[rank]->has_ended()) running |= 1u << rank;
  std::uint32_t idle = 0;
  while (instructions > 0) {
    std::uint32_t candidates = running & ~idle;
    if (running == 0) return Result::done;
    if (candidates == 0) {
      if (is_stuck()) blame();
      return Result::spins;
    }
    for (std::uint64_t skip = random_.below(static_cast<unsigned>(std::popcount(candidates)));
         skip != 0; --skip)
      candidates &= candidates - 1;
    const int rank = std::countr_zero(candidates);
    const int turn = min_turn + static_cast<int>(random_.below(max_turn - min_turn));
    instructions -= turn;
    const Result result = blocks_[static_cast<std::size_t>(rank)]->run(turn);
    const std::uint32_t bit = 1u << rank;
    if (result == Result::done) {
      running &= ~bit;
      end(rank);
    }
    // What it did may be what the others wait for.
    idle = result == Result::ran || result == Result::done ? 0 : idle | bit;
  }
  return Result::ran;
}

/// All blocks wait: for threads of the cluster, or a phase that only they could complete.
bool ResidentCluster::is_stuck() {
  std::uint64_t changes = 0;
  bool only_wait = true, have_phases = false;
  for (const auto& block : blocks_) {
    if (block->block().has_async()) changes += block->block().async().changes();
    if (block->has_ended()) continue;
    only_wait &= block->only_waits();
    have_phases |= !block->is_blocked();
  }
  idle_rounds_ = only_wait && changes == seen_changes_ ? idle_rounds_ + 1 : 0;
  seen_changes_ = changes;
  return only_wait && (!have_phases || idle_rounds_ > max_idle_rounds);
}

/// A phase that nobody completes comes before those who wait behind it.
void ResidentCluster::blame() {
  ResidentBlock* chosen = nullptr;
  for (const auto& block : blocks_)
    if (!block->has_ended() &&
        (chosen == nullptr || (chosen->is_blocked() && !block->is_blocked())))
      chosen = block.get();
  chosen->stuck();
}

/// Finds uses of the shared memory of a block that may come too late.
void ResidentCluster::end(int rank) {
  Block& block = cluster_.block(rank);
  const ForeignUses* uses = block.shared_races.foreign();
  if (uses == nullptr) return;
  const ForeignUse* late = uses->find([&](const ForeignUse& use) {
    return !cluster_.has_waited_for(rank, use) && !cluster_.knows(rank, use.thread);
  });
  if (late != nullptr) blocks_[static_cast<std::size_t>(late->thread.rank)]->tell_of_use(*late);
}

std::uint64_t ResidentCluster::executed_lanes() const {
  std::uint64_t sum = 0;
  for (const auto& block : blocks_) sum += block->executed_lanes();
  return sum;
}

void ResidentCluster::add_counts_to(LaunchCounter& counter) const {
  for (const auto& block : blocks_) counter.add(block->counts());
}

}  // namespace emulator
