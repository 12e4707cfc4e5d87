#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/machine/access.h"
#include "emulator/machine/code.h"

namespace emulator {

class Block;
class Warp;

/// Which accesses of other blocks are ordered before one's own: an epoch (a count of barriers) for
/// a block or one of its warps.
class Knowledge {
 public:
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

/// Holds what strong writes behind fences have released in a launch, by address. Thread-safe.
class Releases {
 public:
  struct Record {
    std::mutex mutex;
    std::vector<Knowledge::Entry> entries;
    bool everything = false;
  };
  std::shared_ptr<Record> at(std::uintptr_t address, bool create);

 private:
  std::atomic<bool> used_{false};
  std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Record>> records_;
};

/// Finds accesses to global memory by two blocks of a launch, at least one of them a write and at
/// least one weak, that no release and acquire orders: a fence for the GPU, a strong write, a
/// strong read of it, a fence; or .release and .acquire.
///
/// Not seen: races within a block; who read, if several blocks did and the writer knows of some
/// block; accesses to other bytes of a word that somebody used later; a fence of one thread, with a
/// barrier behind it, counts for its whole block, and what a thread acquires counts for its warp;
/// memory of the host; launches that run at the same time.
class GlobalRaces {
 public:
  explicit GlobalRaces(Block& block) : block_(block) {}

  void read(Warp& warp, int lane, const Target& target, unsigned bytes, bool strong);
  void write(Warp& warp, int lane, const Target& target, unsigned bytes, bool strong,
             const Change& changes);

  /// Weak accesses to whole words from `offset` of the window on. False: there may be something to
  /// report, lane by lane.
  bool read_row(const Warp& warp, const Memory::Window& window, std::uint64_t offset,
                std::uint64_t bytes);
  bool write_row(const Warp& warp, const Memory::Window& window, std::uint64_t offset,
                 std::uint64_t bytes);

  void fence(Warp& warp, Mask lanes);
  /// `fenced`: the access itself has release semantics.
  void release(Warp& warp, int lane, const Target& target, bool fenced);
  void acquire(Warp& warp, const Target& target, bool at_once);
  /// A barrier of the block.
  void next_epoch();

 private:
  struct OfWarp {
    Knowledge knowledge;
    std::vector<std::pair<std::shared_ptr<Releases::Record>, std::size_t>> pending;
    std::array<std::uint32_t, warp_lanes> fenced{};  // epoch + 1 of a lane's last fence
  };
  OfWarp& of(const Warp& warp);
  void learn_pending(OfWarp& own);
  bool is_known(const Warp& warp, std::uint64_t stamp);
  std::uint64_t stamp(const Warp& warp, std::uint64_t bytes, bool strong) const;

  Block& block_;
  std::uint32_t epoch_ = 0;
  Knowledge knowledge_;
  std::vector<std::unique_ptr<OfWarp>> warps_;
};

}  // namespace emulator
