#pragma once

#include <string>

#include "kernels/core/math_mode.h"
#include "kernels/ops/op.h"

namespace assay::oracle {

/// Precision in which a kernel of some math mode keeps the sums of an op.
struct Accumulation {
  int bits = 0;  // significand bits p
  bool truncates = false;
  double unit_roundoff = 0;  // one addition: 2^-p, or twice that if it truncates
  double steps = 1;          // additions that round, one after the other, for one part
  double longest_chain = 1;  // L: largest number of roundings of one term
  /// Products of parts that make one product: 9 for bf16x9, else 1.
  double parts = 1;
  /// Largest sum of their magnitudes, as a multiple of the product's.
  double parts_magnitude = 1;
  /// Significand bits that the kernel uses of factors stored with more; else 0.
  int factor_bits = 0;
  /// Relative error of a product of two such factors; else 0.
  double factor_error = 0;
};

Accumulation accumulation(const OpInstance& op, const MathMode& mode);

/// Deviations from IEEE arithmetic: ",truncating,step=16", ",factors=11bits"; else empty.
std::string text_of(const Accumulation& sums, const MathMode& mode);

}  // namespace assay::oracle
