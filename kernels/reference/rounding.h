#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/core/dtype.h"
#include "kernels/reference/float8.h"

namespace assay::reference {

/// Converts like `widen`, but 8-bit floats by the decoder that no backend uses.
template <class T>
double wide(T x) {
  if constexpr (is_float8<T>) {
    return float8_value(x);
  } else {
    return widen(x);
  }
}

/// 2^q, for a normal number.
inline double power_of_two(int q) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + q) << 52);
}

/// Exponent of a finite x; at most that of a normal number's for 0 and subnormal ones.
inline int exponent_of(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - 1023;
}

/// Rounds x to the nearest number of `significand` bits and exponents from `smallest` to `largest`,
/// ties to even. Scaled by the spacing 2^q of x, this rounds to a whole number. Scaling is exact:
/// the formats' exponents are far inside those of double.
inline double round_to_format(double x, int significand, int smallest, int largest) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int q = std::max(exponent_of(x), smallest) - (significand - 1);
  const double y = std::nearbyint(x * power_of_two(-q)) * power_of_two(q);
  const bool overflows = std::abs(y) >= power_of_two(largest + 1);
  return overflows ? std::copysign(std::numeric_limits<double>::infinity(), x) : y;
}

/// Rounds x once to T, a float type.
template <class T>
T rounded(double x) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(round_to_format(x, 8, -126, 127)));
  } else if constexpr (std::is_same_v<T, Float16>) {
    return T(static_cast<float>(round_to_format(x, 11, -14, 15)));
  } else if constexpr (is_float8<T>) {
    return nearest_float8<T>(x);
  } else {
    return static_cast<T>(x);
  }
}

}  // namespace assay::reference
