#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/machine/resident_block.h"

namespace emulator {

/// The blocks of a cluster, or the one block of a launch without clusters. One host thread at a
/// time runs them, in turns drawn from the seed. All live until the last one has ended: their
/// threads may use each other's shared memory.
class ResidentCluster {
 public:
  /// `index` of the cluster in the grid.
  ResidentCluster(const LaunchContext& launch, std::uint64_t index, std::uint64_t seed);
  ResidentCluster(const ResidentCluster&) = delete;
  ResidentCluster& operator=(const ResidentCluster&) = delete;

  /// Runs about `instructions` of warps. Never blocked. Throws Fault.
  ResidentBlock::Result run(int instructions);
  std::uint64_t executed_lanes() const;
  void add_counts_to(LaunchCounter& counter) const;

 private:
  bool is_stuck();
  [[noreturn]] void blame();
  void end(int rank);

  Cluster cluster_;
  std::vector<std::unique_ptr<ResidentBlock>> blocks_;  // by rank
  Random random_;
  std::uint64_t seen_changes_ = 0;  // of mbarrier objects
  int idle_rounds_ = 0;
};

}  // namespace emulator
