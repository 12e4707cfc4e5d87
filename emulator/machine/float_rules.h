#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "emulator/machine/decoder.h"

// Rules of all floating-point instructions: the canonical NaN, .ftz, .sat and the rounding mode.
namespace emulator {

template <class T>
T canonical_nan() {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(std::uint32_t{0x7fffffff});
  else
    return std::bit_cast<double>(std::uint64_t{0x7fffffffffffffff});
}

/// Single precision has one NaN (PTX ISA, floating-point instructions); double precision keeps the
/// payload, as the host does.
template <class T>
T with_canonical_nan(T value) {
  if constexpr (sizeof(T) == 4) return value != value ? canonical_nan<T>() : value;
  return value;
}

/// A subnormal number becomes a zero of its sign.
inline float flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
}
inline double flushed(double value) { return value; }

/// To [0, 1]; NaN becomes 0.
template <class T>
T saturated_unit(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

/// The rounding mode of the host thread, for code that the compiler cannot look into.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : changed_(rounding != Rounding::nearest) {
    constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    if (changed_) std::fesetround(modes[static_cast<int>(rounding)]);
  }
  ~RoundingScope() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  bool changed_;
};

// Operations under a rounding mode that the compiler does not know of. Without noipa it may compute
// them ahead of time, or move them out of the scope.
#define EMULATOR_OPAQUE [[gnu::noipa]] inline
EMULATOR_OPAQUE float opaque_add(float a, float b) { return a + b; }
EMULATOR_OPAQUE double opaque_add(double a, double b) { return a + b; }
EMULATOR_OPAQUE float opaque_sub(float a, float b) { return a - b; }
EMULATOR_OPAQUE double opaque_sub(double a, double b) { return a - b; }
EMULATOR_OPAQUE float opaque_mul(float a, float b) { return a * b; }
EMULATOR_OPAQUE double opaque_mul(double a, double b) { return a * b; }
EMULATOR_OPAQUE float opaque_div(float a, float b) { return a / b; }
EMULATOR_OPAQUE double opaque_div(double a, double b) { return a / b; }
EMULATOR_OPAQUE float opaque_sqrt(float a) { return std::sqrt(a); }
EMULATOR_OPAQUE double opaque_sqrt(double a) { return std::sqrt(a); }
EMULATOR_OPAQUE float opaque_fma(float a, float b, float c) { return std::fma(a, b, c); }
EMULATOR_OPAQUE double opaque_fma(double a, double b, double c) { return std::fma(a, b, c); }
EMULATOR_OPAQUE float opaque_narrow(double a) { return static_cast<float>(a); }
#undef EMULATOR_OPAQUE

}  // namespace emulator
