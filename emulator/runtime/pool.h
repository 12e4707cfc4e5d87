#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "emulator/machine/memory.h"

namespace emulator {

/// A memory pool: counts what is allocated from it and what it keeps for later. Thread-safe, as
/// frees are work of streams.
class Pool {
 public:
  Pool(int of_device, std::size_t max, GpuSet initial_users)
      : device(of_device), users(initial_users), max_bytes_(max) {}
  const int device;
  GpuSet users;  // GPUs that may use its memory; wants the runtime's lock
  // Which freed memory it may take again. Every address is new for a while here: see Memory.
  bool follows_events = true, is_opportunistic = true, adds_dependencies = true;

  struct Bytes {
    std::uint64_t used = 0, max_used = 0, reserved = 0, max_reserved = 0;
  };
  Bytes bytes() const;
  /// Returns false if the pool would grow beyond its maximum.
  bool take(std::size_t bytes);
  void give_back(std::size_t bytes);
  void trim(std::size_t bytes_to_keep);
  /// The host has synchronised: the pool keeps no more than its threshold.
  void trim_to_threshold();
  std::uint64_t release_threshold() const;
  void set_release_threshold(std::uint64_t bytes);
  void reset_max_used();
  void reset_max_reserved();

 private:
  void shrink(std::uint64_t bytes_to_keep);
  mutable std::mutex mutex_;
  Bytes bytes_;
  std::uint64_t threshold_ = 0;
  const std::size_t max_bytes_;  // 0: as much as the GPU has
};

/// Memory that a stream has allocated.
struct PooledMemory {
  std::size_t bytes;
  std::shared_ptr<Pool> pool;
};

/// Memory of a graph, at one address in all of its launches. It ends with the last of the graphs
/// that have it.
class GraphMemory {
 public:
  GraphMemory(Memory& memory, std::uintptr_t address) : memory_(memory), address_(address) {}
  ~GraphMemory() { memory_.release(address_); }
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  void begin() const { memory_.set_ready(address_, true); }
  void end() const { memory_.set_ready(address_, false); }

 private:
  Memory& memory_;
  const std::uintptr_t address_;
};

}  // namespace emulator
