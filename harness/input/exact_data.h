#pragma once

#include <cstdint>

#include "kernels/ops/op.h"

namespace assay::input {

/// Inputs on which every partial sum of an op, taken in any order, is exact: integers, times powers
/// of two. All terms of an output are multiples of one power of two, its unit, and sum to at most
/// 2^p units. So elements have few significand bits, about (p - log2 K) / 2 of a product's, which
/// no choice of data can change: exact sums of long significands need short sums. Their size tells
/// nothing: `scale` is further multiplied by powers of two that the launch draws, alike to those of
/// real data, and rows of x and of W by some of their own (harness/input/drawn_scale.h).
struct ExactIntegers {
  std::int64_t limit = 1;  // largest magnitude
  /// Length of a run in which one random element is not zero: in input 0, or in each row of a
  /// stack's weights.
  std::int64_t stride = 1;
  /// Scales sums by 2^-shift: each factor of a product carries a part of it, other terms all of it.
  int shift = 0;

  /// Largest exponent of the scales of block-scaled formats, whose elements are the integers.
  static constexpr int block_spread = 3;

  /// Scale of input `input` of `op`: a power of two, so all stays exact.
  double scale(const OpInstance& op, int input) const;
};

/// True if `input` holds weights of a layer in a stack.
bool is_stacked_weight(const OpInstance& op, int input);

/// Integers for sums of K terms of f factors in an accumulator of p significand bits: the limit is
/// the largest m with K m^f <= 2^p, and at most 2^q for inputs of q bits. If K exceeds 2^p, even
/// signs overflow the significand: then m = 1, and enough elements are zero for the sums to fit. In
/// a stack only weights become zero: otherwise x would be almost all zeros, and the biases alone
/// would overflow. p is 14 for e4m3 and, in a stack, 11 for tf32 (exact_data.cpp). Scales of
/// block-scaled formats are powers of two up to 2^3, and m of their elements is an 8th. Sums are
/// scaled to elements of at most 1, unless in a stack, to what an f16 output can hold, or to a root
/// mean square that the op asks for.
ExactIntegers exact_integers(const OpInstance& op);

}  // namespace assay::input
