#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulator {

/// Bytes of global memory that a copy of a tensor's box uses, and where they lie in shared memory.
struct BoxPiece {
  std::byte* data;
  std::uint8_t* written;  // null: all of it counts as written
  std::uint32_t at;       // from the box's begin
  std::uint32_t bytes;
};

/// Updates `bytes` of memory, element by element, each at once for all other threads.
using Reduction = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);
/// Changes elements on their way into shared memory.
using Conversion = void (*)(std::byte* elements, std::size_t bytes);

/// The other side of a copy whose bytes lie one behind the other in shared memory only.
struct Box {
  std::vector<BoxPiece> pieces{};
  std::vector<std::byte> fill{};  // of a load: what is out of the tensor's bounds
  Conversion convert = nullptr;   // of a load; null: none
  Reduction reduce = nullptr;     // of a store; null: it overwrites
};

/// The marks of the box in shared memory, as a load will leave them.
std::vector<std::uint8_t> marks_of_load(const Box& box);
void load_box(const Box& box, std::byte* to);
/// `marks` are those of the box in shared memory.
void store_box(const Box& box, const std::byte* from, const std::vector<std::uint8_t>& marks);

}  // namespace emulator
