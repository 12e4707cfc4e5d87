#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/core/dtype.h"
#include "kernels/ops/rules.h"

// Function objects that turn 64 random bits into an element, one for each distribution of
// op_judging.h.
namespace assay::input {

/// Uniform in [0, 1] from 64 bits, rounded once: small values keep all of their significand bits.
/// Uses 63 of them: processors convert signed integers faster.
inline double unit_interval(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 1U)) * 0x1p-63;
}

/// A bijection in which every bit of the result depends on all bits: the finaliser of SplitMix64
/// (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
inline std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

/// A value of T that was drawn as a double: rounded once, to nearest.
template <class T>
T round_to(double value) {
  if constexpr (is_narrow_float<T>) {
    // Rounds to f32 to odd first; the second rounding is then correct.
    auto nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || std::isnan(value)) return T(nearest);
    if (std::abs(static_cast<double>(nearest)) > std::abs(value)) {
      nearest = std::nextafter(nearest, 0.0F);
    }
    return T(std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) | 1U));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
struct Uniform {
  Range range;
  T operator()(std::uint64_t bits) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);  // any integer: sums and products wrap
    } else if (range.low == -range.high) {
      // Draws sign and magnitude apart: low + width * u would leave all values on the grid of the
      // largest, where additions of doubles never round.
      const double magnitude = range.high * unit_interval(bits & ~std::uint64_t{1});
      return round_to<T>((bits & 1) != 0 ? -magnitude : magnitude);
    } else {
      return round_to<T>(range.low + (range.high - range.low) * unit_interval(bits));
    }
  }
};

/// Values that break kernels: zeros, infinities, NaN, the ends of the subnormal and of the normal
/// numbers.
template <class T>
T special_value(std::uint64_t choice) {
  using Limits = std::numeric_limits<T>;
  constexpr std::array values{T{0},
                              Limits::denorm_min(),
                              Limits::min() - Limits::denorm_min(),  // the largest subnormal
                              Limits::min(),
                              T{1},
                              Limits::max(),
                              Limits::infinity(),
                              Limits::quiet_NaN()};
  const T value = values.at(choice / 2 % values.size());
  return (choice & 1) != 0 ? -value : value;
}

/// One in 32 elements is special. Half of the others draw their exponent uniformly from the whole
/// range. The other half draw exponents that matter beside 1, or functions such as exp would be 1
/// almost everywhere. A 16-bit or 8-bit type has so few values that each comes once in 65,536 or
/// 256 elements: input 0 counts them by `i`; other inputs draw them in any order.
template <class T>
class Stratified {
 public:
  explicit Stratified(Range range, bool in_order = true)
      : in_order_(in_order), positive_(range.high), negative_(-range.low) {}

  T operator()(std::uint64_t bits, std::int64_t i) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else if constexpr (is_narrow_float<T>) {
      // Steps of an odd number visit all of them.
      const auto step = static_cast<std::uint64_t>(i) * 40503U;
      return std::bit_cast<T>(static_cast<decltype(T::bits)>(in_order_ ? step : bits));
    } else {
      // The significand takes all bits; everything else is drawn from a mix of them.
      const std::uint64_t choice = mix(bits);
      if ((choice >> 8U) % 32 == 0) return special_value<T>(choice >> 32U);
      const bool negative = negative_.end > 0 && (choice & 1U) != 0;
      const double magnitude = (negative ? negative_ : positive_).draw(bits, choice);
      return round_to<T>(negative ? -magnitude : magnitude);
    }
  }

 private:
  static constexpr bool is_f64 = std::is_same_v<T, double>;
  static constexpr int smallest = is_f64 ? -1022 : -126;
  static constexpr int relevant = is_f64 ? -53 : -24;

  /// The magnitudes of one sign, up to `end`.
  struct Side {
    double end;
    int highest;
    double top_width;  // the topmost exponent reaches only as far as the range

    explicit Side(double up_to)
        : end(up_to),
          highest(up_to > 0 ? std::ilogb(up_to) : smallest),
          top_width(up_to > 0 ? std::ldexp(up_to, -highest) - 1 : 0) {}

    double draw(std::uint64_t bits, std::uint64_t choice) const {
      const int lowest = (choice & 2U) != 0 ? smallest : std::min(relevant, highest);
      const auto exponents =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(highest) - lowest + 1);
      const int exponent = lowest + static_cast<int>(((choice >> 32U) * exponents) >> 32U);
      const double unit = unit_interval(bits);
      const double significand = exponent == highest ? 1 + top_width * unit : 1 + unit;
      const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
      return std::min(end, significand * power);
    }
  };

  bool in_order_;
  Side positive_;
  Side negative_;
};

/// Few distinct values, special ones among them, so that equal elements meet.
template <class T>
struct Few {
  T operator()(std::uint64_t bits) const {
    const std::uint64_t choice = mix(bits);
    const auto small = static_cast<int>((choice >> 8) % 7) - 3;
    if constexpr (std::is_integral_v<T>) {
      constexpr std::array ends{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
      return choice % 4 == 0 ? ends.at(choice / 4 % 2) : static_cast<T>(small);
    } else if constexpr (is_narrow_float<T>) {
      using Word = decltype(T::bits);
      constexpr int sign = 8 * sizeof(T) - 1;
      constexpr Word infinity = T(std::numeric_limits<float>::infinity()).bits;
      constexpr Word nan = std::numeric_limits<Word>::max() >> 1;
      constexpr std::array<Word, 4> magnitudes{0, 1, infinity, nan};
      const auto special =
          static_cast<Word>(magnitudes.at(choice / 8 % 4) | (choice / 4 % 2 << sign));
      return choice % 4 == 0 ? std::bit_cast<T>(special) : T(static_cast<float>(small));
    } else {
      return choice % 4 == 0 ? special_value<T>(choice >> 32) : static_cast<T>(small);
    }
  }
};

template <class T>
struct SmallIntegers {
  Range range;
  T operator()(std::uint64_t bits) const {
    const double count = range.high - range.low + 1;
    const double low = std::is_unsigned_v<T> ? std::max(0.0, range.low) : range.low;
    return round_to<T>(std::min(range.high, low + std::floor(count * unit_interval(bits))));
  }
};

/// Draws signs, and one +-2 or +-1/2 in each stretch of `stratum` elements: every partial product
/// is a power of two in range. Integers are odd: their products wrap and are never zero.
template <class T>
struct Factors {
  std::int64_t stratum;  // elements of a stretch; 1: all elements are +-2^+-1
  std::uint64_t offset;
  T operator()(std::uint64_t bits, std::int64_t i) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits | 1U);
    } else {
      const auto run = static_cast<std::uint64_t>(i / stratum);
      const bool chosen = static_cast<std::uint64_t>(i % stratum) ==
                          mix(run ^ offset) % static_cast<std::uint64_t>(stratum);
      const double magnitude = !chosen ? 1 : (bits & 2) != 0 ? 2 : 0.5;
      return round_to<T>((bits & 1) != 0 ? -magnitude : magnitude);
    }
  }
};

template <class T>
struct NearOne {
  double width;
  T operator()(std::uint64_t bits) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits | 1U);
    } else {
      return round_to<T>(1 + width * (2 * unit_interval(bits) - 1));
    }
  }
};

/// Dense integers of [-limit, limit] without zero. A limit of 1 leaves only signs. Balanced signs
/// sum to almost nothing, so a dropped block could cancel: P(+1) = 0.9. Weights of layers are
/// balanced, or no sum would be negative; their many outputs do not all cancel.
template <class T>
struct Integers {
  std::int64_t limit;
  double scale = 1;
  double positive = 0.9;
  T operator()(std::uint64_t bits) const {
    const double unit = unit_interval(bits & ~std::uint64_t{1});
    if (limit == 1) return round_to<T>(unit < positive ? scale : -scale);
    const auto steps = static_cast<std::int64_t>(unit * static_cast<double>(limit));
    const double magnitude = static_cast<double>(std::min(limit, 1 + steps)) * scale;
    return round_to<T>((bits & 1) != 0 ? -magnitude : magnitude);
  }
};

}  // namespace assay::input
