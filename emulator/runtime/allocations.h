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
};

/// Managed memory that the program has allocated; variables are not.
struct ManagedMemory {
  std::size_t bytes;
  int device;  // that was current
};

/// By address.
using ManagedMemories = std::map<std::uintptr_t, ManagedMemory>;
using PinnedMemories = std::map<std::uintptr_t, PinnedMemory>;

}  // namespace emulator
