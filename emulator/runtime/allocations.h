#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace emulator {

/// Pinned memory of the host, as the program made it.
struct PinnedMemory {
  std::size_t bytes;
  int device;          // that was current
  bool is_registered;  // by cudaHostRegister; else allocated
  unsigned flags;      // as the program gave them
};

/// Pinned memory is allocated in whole pages, which nothing can use any more once they are freed.
inline std::size_t whole_pages(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

/// Managed memory that the program has allocated; variables are not.
struct ManagedMemory {
  std::size_t bytes;
  int device;  // that was current
};

/// By address.
using ManagedMemories = std::map<std::uintptr_t, ManagedMemory>;
using PinnedMemories = std::map<std::uintptr_t, PinnedMemory>;

}  // namespace emulator
