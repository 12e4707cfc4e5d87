#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/core/format.h"

// Known results of libraries that differ from an op's definition. Any other difference is an error,
// and so is a declared deviation that no longer occurs. docs/deviations.md lists them.
namespace assay {

struct Deviation {
  /// Elements that the deviation affects.
  enum class Where {
    expected_nan,        // where the result should be NaN
    argument_is,         // elementwise ops: where input 0 is `argument`; NaN stands for any NaN
    argument_above,      // elementwise ops: where input 0 is a number above `argument`
    argument_subnormal,  // elementwise ops: where input 0 is a subnormal number of its dtype
    /// Min or max over ranks: where some ranks hold NaN and others a number. The result is the
    /// least, or greatest, of the numbers; a zero may have either sign.
    nan_beside_numbers,
    /// cast and fma to narrow floats: where the exact result, rounded to f32 and from there to the
    /// output's dtype, is another number than the result rounded once. The result is that number.
    rounded_through_f32,
    /// Casts to 8-bit floats with infinities: where the definition gives the largest number to what
    /// is rounded beyond it. The result is an infinity.
    not_saturated,
    /// Where the result is not 0, but so small that its reciprocal overflows f32 (f64: f64).
    reciprocal_overflows,
    /// norm2: where the squares of the elements overflow the op's accumulator or vanish in it. The
    /// result is infinity or 0, and between what is left of squares that are subnormal.
    squares_out_of_range,
    /// Anywhere: launches on the same inputs leave other bits, each of them right. It is chance, so
    /// it need not be seen.
    launches_differ,
  };

  std::string_view id;       // in the column `reason`: "onednn-relu-nan"
  std::string_view library;  // start of the kernel's implementation(): "oneDNN"
  std::string_view by;       // another part of it; empty: any
  /// Versions >= `from` and < `before`, by the first number in implementation(): "2.6.3". Empty: no
  /// limit on that side.
  std::string_view from;
  std::string_view before;
  std::vector<std::string_view> ops;
  std::string_view reduce;  // collectives only; empty: any
  std::vector<Format> formats;
  Where where = Where::expected_nan;
  double argument = 0;
  /// Exact result of the library, unless `where` implies it. NaN stands for any NaN.
  double value = 0;
  std::string_view source;
};

/// Part of an implementation that may leave sums to NVSwitches by a driver before CUDA 12.8.
inline constexpr std::string_view nvls_of_old_driver = "NVLS by a driver before CUDA 12.8";

/// Table of all declared deviations.
std::span<const Deviation> declared_deviations();

}  // namespace assay
