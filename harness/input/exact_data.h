#pragma once

#include <cstdint>

#include "kernels/ops/op.h"

namespace assay::input {

/// Integer inputs on which every partial sum of an op, taken in any order, is exact.
struct ExactIntegers {
  std::int64_t limit = 1;  // of the magnitudes
  /// Of each run of so many elements one, at random, is not zero: of input 0, or of each row of the
  /// weights of a stack.
  std::int64_t stride = 1;
  /// Sums are scaled by 2^-shift: each factor of a product by a part of it, other terms by all.
  int shift = 0;

  /// What input `input` of `op` is scaled by: a power of two, so all stays exact.
  double scale(const OpInstance& op, int input) const;
};

/// Whether `input` is a weight of several layers.
bool is_stacked_weight(const OpInstance& op, int input);

/// For sums of K terms of f factors in an accumulator of p significand bits: limit m, the largest
/// with K m^f <= 2^p; at most 2^q where the inputs have q bits. Where K exceeds 2^p even signs
/// would overflow the significand: m = 1, and so many elements are zero that the others' sums do
/// not. In a stack those are weights: else x would be almost all zeros, and the biases alone would
/// overflow. p is 14 for e4m3 and, in a stack, 11 for tf32 (exact_data.cpp). Sums are scaled where
/// an f16 output could not hold them, or where the op asks for a root mean square of its sums.
ExactIntegers exact_integers(const OpInstance& op);

}  // namespace assay::input
