#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/machine/code.h"
#include "emulator/machine/flow.h"

namespace emulator {

/// Bits of a frame's registers that have their values by chance. Laid out as the registers are.
class UndefinedRegisters {
 public:
  explicit UndefinedRegisters(std::size_t register_bytes)
      : bits_(register_bytes), results_(register_bytes / results_apart + 1) {}

  bool any() const;
  std::byte* at(std::uint32_t offset) { return bits_.data() + offset; }
  /// Those of a lane's register.
  std::uint64_t bits(Slot slot, int lane) const {
    std::uint64_t found = 0;
    std::memcpy(&found, bits_.data() + slot.offset + static_cast<std::size_t>(lane) * slot.bytes,
                slot.bytes);
    return found;
  }
  /// Lanes with an undefined bit.
  Mask lanes(Slot slot) const;
  /// Lanes whose undefined bits no copy may bring to global memory; all for predicates.
  Mask results(Slot slot) const {
    return slot.bytes == 0 ? all_lanes : results_[slot.offset / results_apart];
  }
  void set_results(Slot slot, Mask lanes) {
    if (slot.bytes != 0) results_[slot.offset / results_apart] |= lanes;
  }
  void define(Slot slot, Mask lanes);
  /// All bits, as the result of a computation.
  void undefine(Slot slot, Mask lanes);

 private:
  static constexpr std::size_t results_apart = 64;  // bytes of registers that share a mask
  std::vector<std::byte> bits_;
  std::vector<Mask> results_;
};

/// Where a lane last got an undefined value: bytes of memory, or a lane that gave a shuffle
/// nothing.
struct UndefinedSource {
  int line = 0;
  ptx::Space space = ptx::Space::generic;  // reg: a shuffle
  unsigned bytes = 0;
  std::uint64_t place = 0;  // the address, or the lane
};

}  // namespace emulator
