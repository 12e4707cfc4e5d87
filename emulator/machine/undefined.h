#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/machine/code.h"
#include "emulator/machine/flow.h"
#include "emulator/machine/target.h"

namespace emulator {

// Values that nothing has written, on their way through registers, as Memcheck follows them (Seward
// and Nethercote, "Using Valgrind to detect undefined value errors with bit-precision", 2005): to
// load, move and store them is no fault, as compilers load more than they use and copy padding.
// It is one to branch on them, to use them as an address, or to store to global memory what was
// computed from them or what a thread found in shared or local memory where nobody has stored
// anything.

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

/// Where a lane last got an undefined value.
struct UndefinedSource {
  int line = 0;
  std::uint64_t place = 0;  // of memory, or a lane
  std::string text{};       // after a verb: "4 bytes at 0x10, …"
};

/// Executes an instruction of a frame with undefined registers. `doubtful`: lanes whose guard is
/// undefined. Throws LaneFault for a use of undefined bits.
void follow(Warp& warp, const Flow& flow, const Code& code, Mask lanes, Mask doubtful);

/// These lanes' results of a shuffle are no other lane's value: `from` does not take part.
void note_absent(Warp& warp, const Code& code, Slot slot, Mask lanes, const int* from);

/// What the lanes of one load found undefined.
struct UndefinedBytes {
  Mask lanes = 0, results = 0;

  /// A bit for each byte.
  unsigned of(int lane) const {
    return has_lane(lanes, lane) ? bytes_[static_cast<std::size_t>(lane)] : 0u;
  }
  void set(int lane, unsigned bytes) {
    lanes |= Mask{1} << lane;
    bytes_[static_cast<std::size_t>(lane)] = static_cast<std::uint16_t>(bytes);
  }

  /// Looks at a target whose marks are not all set.
  void look(Warp& warp, const Code& code, int lane, const Target& target, unsigned access_bytes);

 private:
  std::array<std::uint16_t, warp_lanes> bytes_;  // of `lanes`: nearly always there are none
};
/// Sets the undefined bits of a register that was loaded: of lane l those of `bits[l]`.
void note_loaded(Warp& warp, Slot slot, Mask lanes, Mask results, const std::uint64_t* bits);

/// Of what a lane is about to store: the bytes that are undefined.
struct StoredBytes {
  unsigned undefined = 0;
  bool is_result = false;

  /// Adds the bytes from `first` on, `bytes` of them, which the lane's register holds from `from`
  /// on.
  void add(const UndefinedRegisters& registers, Slot slot, int lane, unsigned first, unsigned bytes,
           std::size_t from = 0);
  /// Throws LaneFault for what must not get to global memory.
  void check(const Warp& warp, int lane, const Target& target, unsigned access_bytes) const;
  /// Sets the marks, after the store has.
  void mark(const Target& target) const;
};

/// One bit for each byte as eight.
std::uint64_t bits_of_bytes(unsigned bytes);

}  // namespace emulator
