#pragma once

namespace assay {

/// How a kernel adds up the products that make an output, where an op leaves that to the device:
/// what it declares is part of what it is held to (harness/oracle/accumulation.h), and is shown.
struct MathMode {
  enum class Rounding { nearest, truncation };

  int accumulator_bits = 0;  // significand bits that sums keep; 0: those of the op's accumulator
  Rounding rounding = Rounding::nearest;  // of sums
  int step = 1;                           // products that are added before a sum is rounded once
  /// Significand bits to which factors are used: 0, or fewer than the op's dtype has, means those.
  int factor_bits = 0;

  bool operator==(const MathMode&) const = default;
};

}  // namespace assay
