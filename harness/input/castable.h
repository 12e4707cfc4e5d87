#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "harness/input/distributions.h"
#include "kernels/core/dtype.h"
#include "kernels/core/significand.h"
#include "kernels/core/sort_key.h"

// Inputs of casts: values that the target holds, and values that show its rounding.
namespace assay::input {

/// Middle between two neighbours that share the upper `kept` of `width` bits with `word`, or the
/// number just below or above it. A cast that rounds twice, through a type between the two, takes
/// all three for ties.
template <class Word>
Word about_the_middle(Word word, int width, int kept, std::uint64_t choice) {
  const int cut = width - kept;
  if (cut < 2) return word;
  const auto half = static_cast<Word>(Word{1} << (cut - 1));
  const auto middle = static_cast<Word>((word & ~(half | (half - 1))) | half);
  return static_cast<Word>(middle + static_cast<Word>(choice % 3) - 1);
}

/// Moves half of the elements next to a tie, if Y is narrower than X.
template <class X, class Y>
X near_tie(X value, std::uint64_t choice) {
  constexpr bool narrows = significand_bits<Y>() < significand_bits<X>();
  if (!narrows || choice % 2 == 0 || !std::isfinite(static_cast<double>(value))) return value;
  using Word = std::conditional_t<sizeof(X) == 8, std::uint64_t, std::uint32_t>;
  constexpr int stored = significand_bits<X>() - 1;
  const auto bits = std::bit_cast<Word>(value);
  const auto near = about_the_middle(bits, stored, significand_bits<Y>() - 1, choice / 2);
  const auto moved = std::bit_cast<X>(near);
  return std::isfinite(moved) ? moved : value;
}

/// Gives three of four numbers an exponent that the target has, subnormal ones included: of all
/// exponents of f64 few are those of a f16.
template <class X>
X within_range(X value, DType to, std::uint64_t choice) {
  const int lowest = smallest_exponent(to) - precision_bits(to) - 1;
  const int exponents = largest_exponent(to) - lowest + 2;
  if (choice % 4 == 0 || !std::isfinite(value) || value == 0) return value;
  const auto drawn = static_cast<int>(choice / 4 % static_cast<std::uint64_t>(exponents));
  int own = 0;
  return std::ldexp(std::frexp(value, &own), lowest + drawn);
}

/// Integer of a random bit length, so that narrow floats hold some; half of them lie next to a tie.
template <class X, class Y>
X integer_near_tie(X value, std::uint64_t choice) {
  using Word = std::make_unsigned_t<X>;
  constexpr int digits = std::numeric_limits<X>::digits;
  const auto length = static_cast<int>((choice >> 32U) % digits) + 1;
  const auto magnitude = static_cast<Word>(
      (static_cast<Word>(value) & std::numeric_limits<X>::max()) >> (digits - length));
  const int width = static_cast<int>(std::bit_width(magnitude));
  const Word near = choice % 2 == 0
                        ? magnitude
                        : about_the_middle(magnitude, width, significand_bits<Y>(), choice / 2);
  return static_cast<X>(value < 0 ? Word{0} - near : near);
}

/// Middle between two neighbours of the 8-bit floats Y, the saturation threshold included, or the
/// number of X just below or above it. Values of random exponents would hardly ever hit these.
template <class X, class Y>
X near_tie_of_codes(std::uint64_t choice) {
  constexpr unsigned codes = Y::format.largest + 1;
  const auto value_of = [](unsigned code) {
    Y y;
    y.bits = static_cast<std::uint8_t>(code);
    return static_cast<X>(static_cast<float>(y));
  };
  const auto code = static_cast<unsigned>(choice / 8 % codes);
  const X below = value_of(code);
  // The last middle lies before the number that would come next.
  const X half =
      code + 1 < codes ? (value_of(code + 1) - below) / 2 : (below - value_of(code - 1)) / 2;
  X near = below + half;
  if (choice % 4 == 1) near = std::nextafter(near, X{0});
  if (choice % 4 == 2) near = std::nextafter(near, std::numeric_limits<X>::max());
  return choice / 4 % 2 == 0 ? near : -near;
}

/// Zeros, and numbers that a way through another type makes zero: one bit alone, fractions, and
/// integers without their lower half.
template <class X>
X near_false(X value, std::uint64_t choice) {
  using Bits = Word<sizeof(X)>;
  constexpr auto width = static_cast<int>(8 * sizeof(X));
  switch (choice % 4) {
    case 0:
      return X{};
    case 1:
      return std::bit_cast<X>(static_cast<Bits>(Bits{1} << (choice / 4 % width)));
    case 2:
      if constexpr (std::is_integral_v<X>) {
        return static_cast<X>(static_cast<Bits>(value) & static_cast<Bits>(~Bits{0} << width / 2));
      } else {
        return round_to<X>(with_sign_of(choice / 4, unit_interval(mix(choice))));
      }
    default:
      return value;
  }
}

/// `value` or a similar one whose cast to `to` is defined and tells roundings apart.
template <class X>
X castable_to(X value, std::uint64_t bits, DType to) {
  const std::uint64_t choice = mix(bits ^ 0x9e3779b97f4a7c15U);
  return visit_dtype(to, [&]<class Y>(std::type_identity<Y>) -> X {
    if constexpr (std::is_same_v<X, Bool8> || (std::is_integral_v<X> && std::is_integral_v<Y>)) {
      return value;  // wraps
    } else if constexpr (std::is_same_v<Y, Bool8>) {
      return near_false(value, choice);
    } else if constexpr (std::is_integral_v<X>) {
      return integer_near_tie<X, Y>(value, choice);
    } else if constexpr (is_narrow_float<X> && !std::is_integral_v<Y>) {
      return value;  // each of the 65,536 values, or 256
    } else if constexpr (!std::is_integral_v<Y> && sizeof(Y) == 1) {
      return choice % 2 == 0 ? value : near_tie_of_codes<X, Y>(choice / 2);
    } else if constexpr (!std::is_integral_v<Y>) {
      return near_tie<X, Y>(within_range(value, to, choice / 8), choice);
    } else {
      // A cast is undefined out of the range of the integer. Both ends are powers of two, or zero:
      // exact as doubles.
      constexpr int digits = std::numeric_limits<Y>::digits;
      const double end = std::ldexp(1.0, digits);
      const auto fits = [&](X x) {
        const double whole = std::trunc(widen(x));
        return whole >= (std::is_signed_v<Y> ? -end : 0.0) && whole < end;
      };
      if (fits(value)) return value;
      // Numbers of any length that the integer has: a way through another one shows at its ends.
      const auto power = static_cast<int>((choice >> 8U) % static_cast<unsigned>(digits));
      const double magnitude = std::ldexp(1 + 0.75 * unit_interval(bits), power);
      const X drawn =
          round_to<X>(std::is_signed_v<Y> ? with_sign_of(choice, magnitude) : magnitude);
      return fits(drawn) ? drawn : round_to<X>(static_cast<double>(bits >> 57U));
    }
  });
}

}  // namespace assay::input
