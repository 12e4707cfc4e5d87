#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "emulator/machine/memory.h"

namespace emulator {

/// Memory of a GPU that kernels allocate themselves, until they free it. Thread-safe.
class DeviceHeap {
 public:
  DeviceHeap(Memory& memory, int gpu, std::size_t limit_bytes)
      : memory_(memory), gpu_(gpu), limit_bytes_(limit_bytes) {}

  /// Returns 0 when the heap is full.
  std::uintptr_t allocate(std::size_t bytes);
  /// Returns false for an address that it did not give, or no longer.
  bool release(std::uintptr_t address);
  bool is_used() const;
  void set_limit(std::size_t bytes);

 private:
  mutable std::mutex mutex_;
  Memory& memory_;
  const int gpu_;
  std::size_t limit_bytes_, used_bytes_ = 0;
  bool is_used_ = false;
  std::map<std::uintptr_t, std::size_t> live_;
};

}  // namespace emulator
