#pragma once

#include <array>
#include <cstdint>

#include "emulator/machine/target.h"
#include "emulator/machine/undefined_registers.h"

namespace emulator {

// Values that nothing has written, on their way through registers, as Memcheck follows them (Seward
// and Nethercote, "Using Valgrind to detect undefined value errors with bit-precision", 2005): to
// load, move and store them is no fault, as compilers load more than they use and copy padding.
// It is one to branch on them, to use them as an address, or to store to global memory what was
// computed from them or what a thread found in shared or local memory where nobody has stored
// anything.

/// Executes an instruction of a frame with undefined registers. `doubtful`: lanes whose guard is
/// undefined. Throws LaneFault for a use of undefined bits.
void follow(Warp& warp, const Flow& flow, const Code& code, Mask lanes, Mask doubtful);

/// These lanes' results of a shuffle are no other lane's value: `from` does not take part.
void note_absent(Warp& warp, const Code& code, Slot slot, Mask lanes, const int* from);

/// Bytes that the lanes of one load found undefined.
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

/// Undefined bytes of what a lane is about to store.
struct StoredBytes {
  unsigned undefined = 0;
  bool is_result = false;

  /// Adds the bytes from `first` on, `bytes` of them, which the lane's register holds from `from`
  /// on.
  void add(const UndefinedRegisters& registers, Slot slot, int lane, unsigned first, unsigned bytes,
           std::size_t from = 0);
  /// Throws LaneFault for what must not get to global memory, or takes it for defined.
  void check(Warp& warp, int lane, const Target& target, unsigned access_bytes);
  /// Sets the marks, after the store has.
  void mark(const Target& target) const;
};

/// One bit for each byte as eight.
std::uint64_t bits_of_bytes(unsigned bytes);

}  // namespace emulator
