#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/reference/exact_sum.h"

namespace assay::reference {

/// A number of about twice the precision of double: `value` is nearest to it, `rest` is what that
/// misses.
struct TwoDoubles {
  double value;
  double rest;
};

/// Returns a + b, for |a| >= |b| and no infinity.
__attribute__((always_inline)) inline TwoDoubles fast_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// Returns e^(x + rest) for x <= 0 and |rest| at most an ulp of it; 0 for -infinity. Relative error
/// below 2^-68 where the result is no subnormal number. Without branches or tables, so that several
/// are computed at once.
///
/// x = k log 2 + r; e^(r / 64) by its series, of which 1, r and r^2 / 2 are kept in two doubles;
/// then six squarings, each of which doubles the error.
__attribute__((always_inline)) inline TwoDoubles exponential(double x, double rest) {
  constexpr double lowest = -746;  // e^-746 is below half of the smallest number
  constexpr double to_integer = 0x1.8p52;
  constexpr double log2_high = 0x1.62e42fefa38p-1;  // 42 bits: times k it is exact
  constexpr double log2_low = 0x1.ef35793c7673p-45;
  const double bounded = x < lowest ? lowest : x;  // NaN stays
  const double rest_of_bounded = x < lowest ? 0 : rest;
  const double shifted = bounded * 0x1.71547652b82fep0 + to_integer;
  const double k = shifted - to_integer;
  const double low = k * log2_low;
  double r = 0;
  double r_rest = 0;
  two_sum(bounded - k * log2_high, -low, r, r_rest);
  r_rest += rest_of_bounded - std::fma(k, log2_low, -low);
  r *= 0x1p-6;
  r_rest *= 0x1p-6;

  const double square = r * r;
  const double square_rest = std::fma(r, r, -square);
  const double others =
      square * r *
      (1 / 6.0 + r * (1 / 24.0 + r * (1 / 120.0 + r * (1 / 720.0 + r * (1 / 5040.0 + r / 40320)))));
  double above_one = 0;
  double above_one_rest = 0;
  two_sum(r, square / 2, above_one, above_one_rest);
  above_one_rest += square_rest / 2 + others + r_rest * (1 + above_one + others);
  TwoDoubles y = fast_sum(1, above_one);
  y = fast_sum(y.value, y.rest + above_one_rest);
  for (int squaring = 0; squaring < 6; ++squaring) {
    const double product = y.value * y.value;
    y = fast_sum(product, std::fma(y.value, y.value, -product) + 2 * y.value * y.rest);
  }

  // 2^k in two factors, as it may be below the smallest normal number.
  const std::uint64_t above =
      std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(to_integer) + 2 * 1023;
  const std::uint64_t half = above / 2;
  const auto factor = std::bit_cast<double>(half << 52U);
  const auto other_factor = std::bit_cast<double>((above - half) << 52U);
  return {y.value * factor * other_factor, y.rest * factor * other_factor};
}

}  // namespace assay::reference
