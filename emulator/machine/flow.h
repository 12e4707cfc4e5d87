#pragma once

#include <cstdint>
#include <vector>

namespace emulator {

/// A register of a frame. `bytes` are those of a lane; 0: a predicate.
struct Slot {
  std::uint32_t offset;
  std::uint8_t bytes;
};

/// How values move through an instruction, for undefined ones (machine/undefined.h).
enum class FlowKind : unsigned char {
  use,      // what it does depends on its sources: they have to be defined
  memory,   // its address has to be; the instruction itself follows its values
  move,     // its result has the bits of its sources, at other places perhaps
  compute,  // its result depends on its sources
  compare,  // so does its predicate, even if it looks alike for many values
};

struct Flow {
  FlowKind kind = FlowKind::use;
  std::vector<Slot> sources, destinations;
  std::vector<Slot> stored{};  // what an instruction that follows its values has beside addresses
  bool is_plain_move = false;  // mov
  bool is_product = false;     // wgmma.mma_async
};

}  // namespace emulator
