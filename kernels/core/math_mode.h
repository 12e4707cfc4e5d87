#pragma once

namespace assay {

/// Precision of a kernel's sums of products, where an op leaves it to the device. A kernel is held
/// to what it declares here (harness/oracle/accumulation.h), and reports show it.
struct MathMode {
  enum class Rounding { nearest, truncation };

  int accumulator_bits = 0;  // significand bits that sums keep; 0: those of the op's accumulator
  Rounding rounding = Rounding::nearest;  // rounding of sums
  int step = 1;                           // products that are added before a sum is rounded once
  /// Significand bits of the factors that are used. 0: those of the op's dtype; else fewer.
  int factor_bits = 0;

  bool operator==(const MathMode&) const = default;
};

}  // namespace assay
