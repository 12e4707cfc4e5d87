#pragma once

#include <cstdint>

#include "kernels/op.h"

namespace assay::input {

/// The largest magnitude m of integer inputs for which every partial sum of the op, in any order,
/// is exact in its accumulator of p significand bits: m = floor(sqrt(2^p / K)) for sums of K
/// products, floor(2^p / K) for plain sums; at most 2^q where the inputs have q bits, and small
/// enough for a sum of an integer dtype not to overflow. 0 when K exceeds 2^p: no exact data exist.
std::int64_t exact_integer_limit(const OpInstance& op);

}  // namespace assay::input
