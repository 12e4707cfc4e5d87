#pragma once

#include <cstdint>

#include "emulator/machine/box_copy.h"
#include "emulator/machine/tensor_map.h"

namespace emulator {

enum class ReduceOp : std::uint8_t { none, add, min, max, inc, dec, bit_and, bit_or, bit_xor };

/// Returns what cp.reduce.async.bulk does to each element, or null where the PTX ISA does not
/// offer it for the type. Sums of f32 flush subnormal numbers, as those of `red` do.
Reduction find_reduction(ReduceOp op, TensorElement type);

}  // namespace emulator
