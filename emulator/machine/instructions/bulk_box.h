#pragma once

#include "emulator/machine/box_copy.h"
#include "emulator/machine/decoder.h"
#include "emulator/machine/instructions/reductions.h"
#include "emulator/machine/memory.h"
#include "emulator/machine/warp.h"

// Bulk copies whose global side has many pieces.
namespace emulator {

/// Finds pieces of global memory for a copy that starts, and tells the search for races.
class BulkAccess {
 public:
  /// `access`: copy for a load, write for a store, atomic for a reduction.
  BulkAccess(Warp& warp, int lane, Access access) : warp_(warp), lane_(lane), access_(access) {}
  /// Up to 16 bytes, a power of two, which begin at `at` of the box. Throws LaneFault for an
  /// address that the lane must not use.
  void add(Box& box, std::uint64_t address, std::uint32_t at, unsigned bytes);

 private:
  Warp& warp_;
  int lane_;
  Access access_;
};

/// Reports a reduction that uses bytes of shared memory which nothing has written.
void check_source_written(Warp& warp, int lane, const Box& box, std::uint64_t shared_offset);

/// .add, .min, …
ReduceOp take_reduction(Decoder& decoder);

}  // namespace emulator
