#pragma once

#include <cstdint>

#include "kernels/op.h"

namespace assay::input {

/// Integer inputs on which every partial sum of an op, taken in any order, is exact.
struct ExactIntegers {
  std::int64_t limit = 1;   // of the magnitudes
  std::int64_t stride = 1;  // in each run of this many elements one, at random, is not zero
};

/// For sums of K terms in an accumulator of p significand bits: limit m = floor(sqrt(2^p / K)) for
/// products, floor(2^p / K) for plain terms; at most 2^q where the inputs have q bits. Where K
/// exceeds 2^p even signs would overflow the significand: m = 1 and only K / stride <= 2^p elements
/// are not zero.
ExactIntegers exact_integers(const OpInstance& op);

}  // namespace assay::input
