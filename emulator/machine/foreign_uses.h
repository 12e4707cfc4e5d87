#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/machine/launch_context.h"
#include "emulator/machine/target.h"
#include "emulator/machine/thread_order.h"

namespace emulator {

/// An access of a thread of another block of the cluster.
struct ForeignUse {
  ThreadStamp thread;
  std::uint8_t bytes = 0;  // of the word
  bool is_write = false, is_strong = false;
  std::uint32_t arrivals = 0;  // of the thread at the cluster's barrier before
  const Code* code = nullptr;
};

/// Accesses of other blocks of the cluster to a block's shared memory. A warp's last one of a kind
/// stands for all that it covers.
class ForeignUses {
 public:
  explicit ForeignUses(const LaunchContext& launch) : launch_(launch) {}

  /// Throws LaneFault for an access, by whatever block, that races with one of them. `changes`:
  /// null for a read.
  void check(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes, bool strong,
             const Change* changes) const;
  /// Remembers an access of another block.
  void add(const WarpState& warp, int lane, std::uint64_t offset, unsigned bytes, bool strong,
           bool writes);
  /// All threads of the cluster are ordered behind what was done before so many arrivals.
  void forget(std::uint32_t arrivals);
  bool is_empty() const { return words_.empty(); }

  /// The first one for which `f(use)` holds; null: none.
  template <class F>
  const ForeignUse* find(F f) const {
    for (const auto& [word, uses] : words_)
      for (const ForeignUse& use : uses)
        if (f(use)) return &use;
    return nullptr;
  }

 private:
  const LaunchContext& launch_;
  std::unordered_map<std::uint64_t, std::vector<ForeignUse>> words_;
};

}  // namespace emulator
