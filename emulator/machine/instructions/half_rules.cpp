#include "emulator/machine/instructions/half_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace emulator {
namespace {

template <bool brain>
struct Format {
  static constexpr int fraction = brain ? 7 : 10;
  static constexpr int min_exponent = brain ? -126 : -14;
  static constexpr int max_exponent = brain ? 127 : 15;
  static constexpr std::uint16_t infinity = brain ? 0x7f80 : 0x7c00;
};

}  // namespace

template <bool brain>
double half_to_double(std::uint16_t bits) {
  using F = Format<brain>;
  const int exponent = (bits & F::infinity) >> F::fraction;
  const int fraction = bits & ((1 << F::fraction) - 1);
  double value;
  if ((bits & F::infinity) == F::infinity)
    value = fraction != 0 ? std::nan("") : HUGE_VAL;
  else if (exponent == 0)
    value = std::ldexp(fraction, F::min_exponent - F::fraction);
  else
    value = std::ldexp(fraction + (1 << F::fraction), exponent - 1 + F::min_exponent - F::fraction);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <bool brain>
std::uint16_t round_to_half(double value, Rounding rounding) {
  using F = Format<brain>;
  if (value != value) return half_nan;
  const bool negative = std::signbit(value);
  const std::uint16_t sign = negative ? 0x8000 : 0;
  if (std::isinf(value)) return sign | F::infinity;
  const double size = std::fabs(value);
  if (size == 0) return sign;
  int exponent = std::max(std::ilogb(size), F::min_exponent);
  // In units of the last place: below 2^11, with the rest behind the point.
  const double scaled = std::ldexp(size, F::fraction - exponent);
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  const bool inexact = rest != 0;
  bool up = false;
  switch (rounding) {
    case Rounding::nearest:
      up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0);
      break;
    case Rounding::zero:
      break;
    case Rounding::down:
      up = negative && inexact;
      break;
    case Rounding::up:
      up = !negative && inexact;
      break;
  }
  if (up) whole += 1;
  if (whole == std::ldexp(1.0, F::fraction + 1)) {
    whole /= 2;
    ++exponent;
  }
  if (exponent > F::max_exponent) {
    const bool to_infinity = rounding == Rounding::nearest ||
                             (rounding == Rounding::up && !negative) ||
                             (rounding == Rounding::down && negative);
    return static_cast<std::uint16_t>(sign | (to_infinity ? F::infinity : F::infinity - 1));
  }
  const int units = static_cast<int>(whole);
  // A subnormal number's units carry over into the exponent by themselves.
  const int biased = (exponent - F::min_exponent) * (1 << F::fraction);
  return static_cast<std::uint16_t>(sign | (biased + units));
}

template <bool brain>
std::uint16_t half_fma(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  // The product is exact in double precision; the sum is made odd where it is not exact (Boldo and
  // Melquiond, "Emulation of FMA and correctly rounded sums", 2008), so that the second rounding
  // sees that.
  const double product = half_to_double<brain>(a) * half_to_double<brain>(b);
  const double addend = half_to_double<brain>(c);
  const double sum = product + addend;
  if (!std::isfinite(sum)) return round_to_half<brain>(sum, Rounding::nearest);
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  double odd = sum;
  if (error != 0 && (std::bit_cast<std::uint64_t>(sum) & 1) == 0)
    odd = std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
  return round_to_half<brain>(odd, Rounding::nearest);
}

template double half_to_double<false>(std::uint16_t);
template double half_to_double<true>(std::uint16_t);
template std::uint16_t round_to_half<false>(double, Rounding);
template std::uint16_t round_to_half<true>(double, Rounding);
template std::uint16_t half_fma<false>(std::uint16_t, std::uint16_t, std::uint16_t);
template std::uint16_t half_fma<true>(std::uint16_t, std::uint16_t, std::uint16_t);

}  // namespace emulator
