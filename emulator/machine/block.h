#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "emulator/machine/async_copies.h"
#include "emulator/machine/barriers.h"
#include "emulator/machine/warpgroups.h"

namespace emulator {

/// The allocation that the last slow access hit.
struct AllocationCache {
  std::uint64_t generation = 0;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  int owner = host;
};

class Cluster;

/// Which block it is.
struct BlockPlace {
  std::uint64_t index;  // in the grid
  Cluster& cluster;
  std::uint64_t cluster_index;  // in the grid
  int rank;                     // in the cluster
};

/// Memory and state that the threads of a block share.
class Block {
 public:
  Block(const LaunchContext& launch, const BlockPlace& place, std::uint64_t seed);

  const LaunchContext& context() const { return launch_; }
  std::uint64_t index() const { return index_; }
  Dim3 position() const { return position_; }
  Random& random() { return random_; }
  std::size_t shared_bytes() const { return shared.bytes.size(); }
  std::size_t local_bytes_per_thread() const { return launch_.local_bytes_per_thread(); }
  /// Nothing has written these bytes of a thread's stack from now on.
  void forget_local(int warp, int lane, std::size_t begin, std::size_t bytes);
  std::uint32_t special(std::size_t special, int warp, int lane) const;
  Cluster& cluster() const { return cluster_; }

  std::unique_ptr<Counts> counts;  // null: nothing is counted
  MarkedBytes shared;
  MarkedBytes local;  // one thread's behind the other's
  AllocationCache allocation;

  bool has_ended = false;
  ThreadOrder order;
  SharedRaces shared_races;
  GlobalRaces global_races;
  Barriers barriers;
  /// Made at the first use.
  AsyncCopies& async();
  bool has_async() const { return async_ != nullptr; }
  /// Made at the first use.
  Warpgroups& warpgroups();
  bool has_warpgroups() const { return warpgroups_ != nullptr; }

 private:
  const LaunchContext& launch_;
  Cluster& cluster_;
  const std::uint64_t index_;
  Dim3 position_;
  Random random_;
  std::unique_ptr<AsyncCopies> async_;
  std::unique_ptr<Warpgroups> warpgroups_;
};

}  // namespace emulator
