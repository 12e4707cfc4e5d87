#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/core/float8.h"

// The 8-bit floats by their definition (OFP8, revision 1.0), from the bits alone: uses none of the
// backends' conversions. A code is an exponent and a fraction f of `fraction` bits. Exponent 0: its
// magnitude is f steps of 2^(1 - bias - fraction). Else: 2^fraction + f steps, which double with
// each exponent beyond 1.
namespace assay::reference {

template <class T>
inline constexpr bool is_float8 = std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;

struct Float8Layout {
  int fraction;
  int bias;
  unsigned numbers;  // first code that is infinity or NaN
};

template <class T>
constexpr Float8Layout float8_layout() {
  if constexpr (std::is_same_v<T, Float8E4M3>) {
    return {3, 7, 0x7f};
  } else {
    return {2, 15, 0x7c};
  }
}

template <class T>
double float8_value(T x) {
  constexpr Float8Layout layout = float8_layout<T>();
  const unsigned code = x.bits % 0x80U;
  const double sign = x.bits >= 0x80U ? -1 : 1;
  if (code >= layout.numbers) {
    const bool is_infinite = std::is_same_v<T, Float8E5M2> && code == layout.numbers;
    return is_infinite ? sign * std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::quiet_NaN();
  }
  const unsigned steps_per_binade = 1U << layout.fraction;
  const unsigned exponent = code / steps_per_binade;
  const unsigned steps = code % steps_per_binade + (exponent > 0 ? steps_per_binade : 0);
  const int doublings = static_cast<int>(std::max(exponent, 1U)) - 1;
  return sign * std::ldexp(steps, 1 - layout.bias - layout.fraction + doublings);
}

/// Nearest number; of two equally near ones, that with the even code. Values beyond the range, and
/// infinity, give the largest. Searches the codes, whose values ascend.
template <class T>
T nearest_float8(long double x) {
  constexpr std::size_t numbers = float8_layout<T>().numbers;
  const auto of_code = [](std::size_t code) {
    T y;
    y.bits = static_cast<std::uint8_t>(code);
    return y;
  };
  static const auto values = [&] {
    std::array<long double, numbers> all{};
    for (std::size_t code = 0; code < numbers; ++code) all.at(code) = float8_value(of_code(code));
    return all;
  }();
  if (std::isnan(x)) return of_code(0x7f);
  const long double magnitude = std::abs(x);
  const auto above = std::ranges::upper_bound(values, magnitude);
  auto code = static_cast<std::size_t>(above - values.begin()) - 1;
  if (above != values.end()) {
    const long double from_below = magnitude - values.at(code);
    const long double to_above = *above - magnitude;
    if (from_below > to_above || (from_below == to_above && code % 2 == 1)) ++code;
  }
  return of_code(code | (std::signbit(x) ? 0x80U : 0U));
}

}  // namespace assay::reference
