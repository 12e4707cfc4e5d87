#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/machine/clocks.h"

namespace emulator {

/// Which accesses of other blocks are ordered before one's own: an epoch (a count of barriers) for
/// a block or one of its warps.
class Knowledge {
 public:
  /// A look-back over n blocks would keep n^2 entries.
  static constexpr std::size_t max_entries = 4096;
  static constexpr std::uint32_t last_epoch = 0x1fff;
  using Entry = std::pair<std::uint64_t, std::uint32_t>;  // key, first epoch that is not known
  static std::uint64_t of_block(std::uint64_t block) { return block << 6; }
  static std::uint64_t of_warp(std::uint64_t block, int warp) {
    return block << 6 | static_cast<std::uint64_t>(warp + 1);
  }

  bool knows(std::uint64_t block, int warp, std::uint32_t epoch) const;
  bool is_empty() const { return !everything_ && entries_.empty(); }
  void learn(const Entry& entry);
  void learn(const Knowledge& other);
  void append_to(std::vector<Entry>& list) const;
  bool everything() const { return everything_; }
  void learn_everything() { everything_ = true; }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> entries_;
  bool everything_ = false;  // too much to keep: nothing is reported any more
};

/// Accesses that some threads of a cluster have released for others to acquire.
struct Released {
  struct OfBlock {
    Clocks::Row warps{};
    std::map<int, Clocks::Row> lanes_of_warp{};
  };
  std::map<int, OfBlock> blocks{};  // by rank
  Knowledge global{};               // of global memory, if the cluster has several blocks
  void join(const Released& other);
};

/// Holds what strong writes behind fences have released in a launch, by address. Thread-safe.
class Releases {
 public:
  struct Record {
    std::mutex mutex;
    std::vector<Knowledge::Entry> entries;
    bool everything = false;
    /// By cluster, for its own threads.
    std::unordered_map<std::uint64_t, std::shared_ptr<Released>> clusters;
  };
  std::shared_ptr<Record> at(std::uintptr_t address, bool create);

 private:
  std::atomic<bool> used_{false};
  std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Record>> records_;
};

}  // namespace emulator
