#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/core/dtype.h"

namespace assay::oracle {

/// value + rest rounded to odd: to the neighbour with an odd significand unless it is exact. A
/// second rounding to a type at least two bits narrower then equals one rounding of the exact sum.
/// Boldo, Melquiond: "Emulation of a FMA and correctly rounded sums", IEEE Trans. Comput. 57(4),
/// 2008. Needs value = RN(value + rest).
inline double round_to_odd(double value, double rest) {
  // Selects, not branches: half of all values are even, and several are rounded at once.
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t is_even = ~bits & 1U;
  const std::uint64_t is_towards_zero = (bits ^ std::bit_cast<std::uint64_t>(rest)) >> 63U;
  const auto odd = std::bit_cast<double>(bits + is_even - 2 * (is_even & is_towards_zero));
  const double smallest = std::copysign(std::numeric_limits<double>::denorm_min(), rest);
  const bool is_finite = std::abs(value) <= std::numeric_limits<double>::max();
  return rest == 0 || !is_finite ? value : value == 0 ? smallest : odd;
}

inline float round_to_odd_float(double value) {
  const auto nearest = static_cast<float>(value);
  const auto again = static_cast<double>(nearest);
  auto word = std::bit_cast<std::uint32_t>(nearest);
  word -= static_cast<std::uint32_t>(std::abs(again) > std::abs(value));  // the next towards 0
  const bool is_inexact = again < value || again > value;                 // not for NaN
  return std::bit_cast<float>(is_inexact ? word | 1U : word);
}

/// value + rest rounded once, to nearest even.
template <class T>
T correctly_rounded(double value, double rest) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(round_to_odd(value, rest));
  } else {
    static_assert(is_narrow_float<T>);
    return T(round_to_odd_float(round_to_odd(value, rest)));
  }
}

/// Spacing at a finite y of numbers with `precision` bits and exponents from `lowest` on; below the
/// smallest normal number, the spacing of the subnormals. Called for each element.
inline double spacing(double y, int lowest, int precision) {
  constexpr std::int64_t bias = 1023;
  // Zero and subnormal doubles have an exponent below every `lowest`. In 64 bits: loops are not
  // vectorised if they mix integers of two lengths.
  const auto biased = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(y) >> 52U & 0x7ffU);
  const std::int64_t exponent = std::max<std::int64_t>(lowest, biased - bias) - precision + 1;
  // Subnormal powers of two are made of normal ones.
  const bool is_subnormal = exponent <= -bias;
  const std::int64_t normal = exponent + bias + (is_subnormal ? 64 : 0);
  return std::bit_cast<double>(static_cast<std::uint64_t>(normal) << 52U) *
         (is_subnormal ? 0x1p-64 : 1.0);
}

inline double ulp(double y, DType dtype) {
  return spacing(y, smallest_exponent(dtype), precision_bits(dtype));
}

inline double smallest_normal(DType dtype) { return std::ldexp(1.0, smallest_exponent(dtype)); }

template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (is_narrow_float<T>) {
    return value.bits;
  } else if constexpr (sizeof(T) == 8) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<std::uint16_t>(value);
  } else {
    static_assert(sizeof(T) == 1);
    return std::bit_cast<std::uint8_t>(value);
  }
}

/// The inverse of bits_of.
template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (is_narrow_float<T>) {
    T value;
    value.bits = static_cast<decltype(T::bits)>(bits);
    return value;
  } else if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(bits);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
  } else {
    static_assert(sizeof(T) == 1);
    return std::bit_cast<T>(static_cast<std::uint8_t>(bits));
  }
}

}  // namespace assay::oracle
