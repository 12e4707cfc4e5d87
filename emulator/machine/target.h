#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "emulator/machine/memory.h"
#include "emulator/ptx/types.h"

namespace emulator {

class Block;

/// Marks of bytes, beside 0 for those that nothing has written. What is undefined has one of the
/// last two in shared and local memory, and 0 in global memory.
inline constexpr std::uint8_t mark_written = 1;
inline constexpr std::uint8_t mark_result = 2;  // computed from undefined values
inline constexpr std::uint8_t mark_copy = 3;    // of unwritten global memory, or of padding

/// Where one lane's access goes: the bytes, and their marks (null: memory of the host, all of which
/// counts as written).
struct Target {
  std::byte* data;
  std::uint8_t* written;
  ptx::Space space;      // never generic
  std::uint64_t offset;  // within the space; for global memory of a GPU, within its window
  const Memory::Window* window = nullptr;
  Block* owner = nullptr;  // of shared memory; null: the thread's own block
};

/// The marks of up to 16 bytes: all set?
[[gnu::always_inline]] inline bool all_written(const std::uint8_t* marks, unsigned bytes) {
  switch (bytes) {
    case 1:
      return *marks != 0;
    case 2: {
      std::uint16_t value;
      std::memcpy(&value, marks, 2);
      return value == 0x0101;
    }
    case 4: {
      std::uint32_t value;
      std::memcpy(&value, marks, 4);
      return value == 0x01010101u;
    }
    case 8: {
      std::uint64_t value;
      std::memcpy(&value, marks, 8);
      return value == 0x0101010101010101u;
    }
    default:
      return std::memchr(marks, 0, bytes) == nullptr;
  }
}

/// Whether a write changes the target; a null value stands for one that does. Asked for in case of
/// a conflict only.
struct Change {
  const Target& target;
  const void* value;
  unsigned bytes;
  bool operator()() const {
    return value == nullptr || !all_written(target.written, bytes) ||
           std::memcmp(target.data, value, bytes) != 0;
  }
};

}  // namespace emulator
