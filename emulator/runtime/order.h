#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/unordered.h"

namespace emulator {

/// What comes before a piece of work: of each queue, by its number, the newest piece that does.
class Frontier {
 public:
  void join(const Frontier& other);
  void set(int queue, std::uint64_t piece) { pieces_[queue] = piece; }
  bool knows(int queue, std::uint64_t piece) const;
  bool has(const Frontier& other) const;
  void clear() { pieces_.clear(); }

 private:
  std::map<int, std::uint64_t> pieces_;
};

/// A piece of work: the queue that it is on, its number there, and what comes before it, itself
/// included.
struct WorkPosition {
  int queue = 0;
  std::uint64_t piece = 0;
  Frontier before = {};
};

/// Uses of memory by work that has begun, for the search for unordered ones. Called with the
/// runtime's lock.
class MemoryUses {
 public:
  /// Notes a launch of this number, and finds what it is not ordered with; null: with nothing.
  /// `told_host`: set when the launch has told the host something, which may have waited for that:
  /// from then on it counts as known to all.
  std::shared_ptr<const Unordered> begin_launch(const WorkPosition& position, std::uint64_t number,
                                                const std::string& name,
                                                std::shared_ptr<std::atomic<bool>> told_host);
  /// As `begin_launch`, of work that uses these ranges.
  std::shared_ptr<const Unordered> begin_copy(const WorkPosition& position,
                                              const std::vector<Unordered::Range>& ranges);
  void forget() { of_queues_.clear(); }
  /// Of memory that ends. Marks of launches end with it.
  void forget(std::uintptr_t begin, std::size_t bytes);

 private:
  struct Use {
    std::uint64_t piece = 0, launch = 0;  // launch 0: it is a copy
    std::string name = {};
    std::vector<Unordered::Range> ranges = {};
    std::shared_ptr<std::atomic<bool>> told_host = nullptr;
  };
  std::shared_ptr<const Unordered> find(const WorkPosition& position) const;
  void add(int queue, Use use);

  std::map<int, std::deque<Use>> of_queues_;
};

}  // namespace emulator
