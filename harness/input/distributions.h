#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>

#include "kernels/core/dtype.h"
#include "kernels/core/significand.h"
#include "kernels/ops/rules.h"

// Function objects that turn 64 random bits into an element, one for each distribution of
// kernels/ops/rules.h.
namespace assay::input {

/// Uniform in [0, 1] from 63 of 64 bits, rounded once: small values keep all of their significand
/// bits. Two halves become doubles as the lowest bits of 2^52 and of 2^84, and their sum is the one
/// that rounds: few processors convert several 64-bit integers at once.
inline double unit_interval(std::uint64_t bits) {
  const std::uint64_t value = bits >> 1U;
  const auto low = std::bit_cast<double>(value % (1ULL << 32U) | 0x4330000000000000U) - 0x1p52;
  const auto high = std::bit_cast<double>(value >> 32U | 0x4530000000000000U) - 0x1p84;
  return (high + low) * 0x1p-63;
}

/// Returns the value with its sign changed if the lowest of the bits is set.
inline double with_sign_of(std::uint64_t bits, double value) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ bits << 63U);
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
    // Rounds to f32 to odd first; the second rounding is then correct. Without branches, so that
    // many are rounded at once.
    const auto nearest = static_cast<float>(value);
    const auto again = static_cast<double>(nearest);
    auto word = std::bit_cast<std::uint32_t>(nearest);
    word -= static_cast<std::uint32_t>(std::abs(again) > std::abs(value));  // the next towards 0
    word |= static_cast<std::uint32_t>(again < value) | static_cast<std::uint32_t>(again > value);
    return T(std::bit_cast<float>(word));
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
    } else {
      // If the range is symmetric, draws sign and magnitude apart: low + width * u would leave all
      // values on the grid of the largest, where additions of doubles never round.
      const bool is_symmetric = range.low == -range.high;
      const double low = is_symmetric ? 0 : range.low;
      const std::uint64_t sign = is_symmetric ? bits : 0;
      return round_to<T>(with_sign_of(sign, low + (range.high - low) * unit_interval(bits)));
    }
  }
};

/// Normal, by the method of Box and Muller from two halves of the bits: at most 6.7 deviations from
/// the mean.
template <class T>
struct Normal {
  double mean;
  double deviation;
  T operator()(std::uint64_t bits) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else {
      constexpr double unit = 0x1p-32;
      const double radius =
          std::sqrt(-2 * std::log((static_cast<double>(bits >> 32U) + 0.5) * unit));
      const double angle = 2 * std::numbers::pi * static_cast<double>(bits & 0xffffffffU) * unit;
      return round_to<T>(mean + deviation * radius * std::cos(angle));
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

/// Any bits; of one element in four those of an infinity, or of any NaN, which may be a signalling
/// one.
template <class T>
struct AnyBits {
  T operator()(std::uint64_t bits) const {
    if constexpr (std::is_floating_point_v<T>) {
      using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      constexpr auto exponent = std::bit_cast<Word>(std::numeric_limits<T>::infinity());
      const auto word = static_cast<Word>(bits);
      return std::bit_cast<T>(mix(bits) % 4 == 0 ? word | exponent : word);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else {
      return std::bit_cast<T>(static_cast<decltype(T::bits)>(bits));
    }
  }
};

/// Half of them any bits. Of the others each number of bits is as likely, and some are powers of
/// two, or all bits below one: masks, and the ends of the type. By selects, not branches, so that
/// many are drawn at once.
template <class T>
__attribute__((always_inline)) inline T integer_of_any_size(std::uint64_t bits) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const std::uint64_t choice = mix(bits);
  const auto any = static_cast<T>(bits);
  const std::uint64_t size = (choice >> 8U) % (8 * sizeof(T));
  const std::uint64_t power = std::uint64_t{1} << size;
  const bool is_other_side = (choice >> 3U) % 2 != 0;
  const std::uint64_t kind = (choice >> 1U) % 4;
  const std::uint64_t alone = is_other_side ? 0 - power : power;
  const std::uint64_t below = is_other_side ? 0 - power : power - 1;
  const auto shifted = static_cast<std::uint64_t>(static_cast<Wide>(any) >> size);
  const std::uint64_t some = kind == 0 ? alone : kind == 1 ? below : shifted;
  return static_cast<T>(choice % 2 == 0 ? bits : some);
}

/// One in 32 elements is special. Half of the others draw their exponent uniformly from the whole
/// range. The other half draw exponents that matter beside 1, or functions such as exp would be 1
/// almost everywhere. A 16-bit or 8-bit type has so few values that each comes once in 65,536 or
/// 256 elements: input 0 counts them by `i`, from `start` on; other inputs draw them in any order.
template <class T>
class Stratified {
 public:
  Stratified(Range range, std::uint64_t start, bool in_order = true)
      : in_order_(in_order), start_(start), positive_(range.high), negative_(-range.low) {}

  /// The elements without those that are special.
  T operator()(std::uint64_t bits, std::int64_t i) const {
    if constexpr (std::is_integral_v<T>) {
      return integer_of_any_size<T>(bits);
    } else if constexpr (std::is_same_v<T, Bool8>) {
      return T(bits >> 63U);
    } else if constexpr (is_narrow_float<T>) {
      // Steps of an odd number visit all of them.
      const auto step = (start_ + static_cast<std::uint64_t>(i)) * 40503U;
      return std::bit_cast<T>(static_cast<decltype(T::bits)>(in_order_ ? step : bits));
    } else {
      // The significand takes all bits; everything else is drawn from a mix of them. Selects, not
      // branches, so that many are drawn at once.
      const std::uint64_t choice = mix(bits);
      const bool negative = negative_.end > 0 && (choice & 1U) != 0;
      const auto of_side = [&](auto Side::*member) {
        const auto for_positive = positive_.*member;
        const auto for_negative = negative_.*member;
        return negative ? for_negative : for_positive;
      };
      const std::int64_t highest = of_side(&Side::highest);
      const std::int64_t relevant_lowest = of_side(&Side::relevant_lowest);
      const std::int64_t lowest = (choice & 2U) != 0 ? smallest : relevant_lowest;
      const auto exponents = static_cast<std::uint64_t>(highest - lowest + 1);
      const auto above = static_cast<std::int64_t>(((choice >> 32U) * exponents) >> 32U);
      const std::int64_t exponent = lowest + above;
      const double width = exponent == highest ? of_side(&Side::top_width) : 1;
      const double significand = 1 + width * unit_interval(bits);
      const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
      const double magnitude = std::min(of_side(&Side::end), significand * power);
      return round_to<T>(with_sign_of(negative ? 1 : 0, magnitude));
    }
  }
  /// The special ones, by the mix of the bits: they replace some of the others.
  static constexpr bool has_special = std::is_floating_point_v<T>;
  static bool is_special(std::uint64_t choice) { return (choice >> 8U) % 32 == 0; }
  static T special(std::uint64_t choice) { return special_value<T>(choice >> 32U); }
  T any(std::uint64_t bits, std::int64_t i) const {
    if constexpr (has_special) {
      if (const std::uint64_t choice = mix(bits); is_special(choice)) return special(choice);
    }
    return (*this)(bits, i);
  }

 private:
  static constexpr bool is_f64 = std::is_same_v<T, double>;
  static constexpr std::int64_t smallest = is_f64 ? -1022 : -126;
  static constexpr std::int64_t relevant = is_f64 ? -53 : -24;

  /// The magnitudes of one sign, up to `end`.
  struct Side {
    double end;
    std::int64_t highest;
    std::int64_t relevant_lowest;
    double top_width;  // the topmost exponent reaches only as far as the range

    explicit Side(double up_to)
        : end(up_to),
          highest(up_to > 0 ? std::ilogb(up_to) : smallest),
          relevant_lowest(std::min<std::int64_t>(relevant, highest)),
          top_width(up_to > 0 ? std::ldexp(up_to, -static_cast<int>(highest)) - 1 : 0) {}
  };

  bool in_order_;
  std::uint64_t start_;
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
    const double low = std::is_unsigned_v<T> ? std::max(0.0, range.low) : range.low;
    const double count = range.high - low + 1;
    return round_to<T>(std::min(range.high, low + std::floor(count * unit_interval(bits))));
  }
};

/// Next to one of some points, where functions have zeros, poles or another formula: all distances
/// from as large as the point down to the last bit are as likely.
template <class T>
struct Around {
  std::span<const double> points;
  T operator()(std::uint64_t bits) const {
    const std::uint64_t choice = mix(bits);
    const double point = points[(choice >> 32U) % points.size()];
    const auto power = static_cast<int>((choice >> 8U) % (significand_bits<T>() + 2));
    const double distance = std::ldexp((1 + unit_interval(bits)) / 2, -power);
    return round_to<T>(point * (1 + with_sign_of(choice, distance)));
  }
};

/// Rows that lie far from each other.
template <class T>
struct FarRows {
  Range range;
  std::span<const double> points;
  double most;  // of a point, in size
  std::int64_t columns;

  T operator()(std::uint64_t bits, std::int64_t i) const {
    const auto row = static_cast<std::size_t>(i / columns);
    const double point = std::clamp(points[row % points.size()], -most, most);
    return round_to<T>(point + range.low + (range.high - range.low) * unit_interval(bits));
  }
};

/// The number, or the end of an integer dtype for an infinity.
template <class T>
T needle_as(double needle) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isinf(needle)) {
      return needle < 0 ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    }
  }
  return round_to<T>(std::is_unsigned_v<T> ? std::max(0.0, needle) : needle);
}

/// A number in [low, high); a whole one in integer dtypes.
template <class T>
double within(const Range& range, std::uint64_t bits) {
  const double x = range.low + (range.high - range.low) * unit_interval(bits);
  return std::is_integral_v<T> ? std::floor(x) : x;
}

template <class T>
struct Divisors {
  T operator()(std::uint64_t bits) const {
    const T divisor = integer_of_any_size<T>(bits);
    const bool is_minus_one = std::is_signed_v<T> && divisor == static_cast<T>(-1);
    return divisor == 0 ? T(1) : is_minus_one ? static_cast<T>(-2) : divisor;
  }
};

template <class T>
struct Within {
  Range range;
  T operator()(std::uint64_t bits) const { return round_to<T>(within<T>(range, bits)); }
};

/// Draws signs, and one +-2 or +-1/2 in each stretch of `stratum` elements of a line: every partial
/// product is a power of two in range. Integers are odd: their products wrap and are never zero.
template <class T>
struct Factors {
  std::int64_t stratum;  // elements of a stretch; 1: all elements are +-2^+-1
  std::int64_t columns;
  std::uint64_t offset;
  T operator()(std::uint64_t bits, std::int64_t i) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits | 1U);
    } else {
      const std::int64_t column = i % columns;
      const auto run = static_cast<std::uint64_t>(i - column + column / stratum);
      const bool chosen = static_cast<std::uint64_t>(column % stratum) ==
                          mix(run ^ offset) % static_cast<std::uint64_t>(stratum);
      const double magnitude = !chosen ? 1 : (bits & 2) != 0 ? 2 : 0.5;
      return round_to<T>((bits & 1) != 0 ? -magnitude : magnitude);
    }
  }
};

/// +-(2^19 + 15 * 2^8 + 15) 2^e: as bf16 numbers of 8 bits it has three parts. Of the nine products
/// of parts of two such numbers all but x2 w3, x3 w2 and x3 w3 are multiples of 2^15, one ulp of
/// the sum in f32: they are exact in any order, and the three others cost a rounding each, at most.
/// They are 3.5 ulp together, as large as 8-bit parts below such a first one allow: three
/// truncations are less. If parts are rounded to nearest instead, x1 = 129 * 2^12, x2 = -241 and x3
/// = 0: at most x1 w2, x2 w1 and x2 w2 cost one.
template <class T>
struct Bf16Parts {
  T operator()(std::uint64_t bits) const {
    constexpr double significand = 0x1p19 + 15 * 0x1p8 + 15;
    const auto power = static_cast<double>(1U << (bits >> 1U & 3U));
    return round_to<T>(with_sign_of(bits, significand * 0x1p-19 * power));
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

/// Signs, and among them about `chosen` factors in +-[1, 1 + width): products of any two have all
/// significand bits, and round without bias. A product of `terms` factors as near to 1 as dense
/// ones must be does not: (1 + a)(1 + b) errs by a b, of a known sign. Integers: two are even, or
/// so, and their product is hardly ever zero.
template <class T>
struct Growing {
  static constexpr double chosen = 1024;
  static constexpr double log_product = 8;  // of all, about: f16 holds e^11

  explicit Growing(double terms)
      : width(std::max(2 * log_product / chosen, 2 * log_product / terms)),
        share(std::min(1.0, 2 * log_product / (terms * width))),
        even_share(2 / terms) {}

  T operator()(std::uint64_t bits) const {
    const double draw = unit_interval(mix(bits));
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>((bits | 1U) * (draw < even_share ? 2 : 1));
    } else {
      const bool is_chosen = draw < share;
      const double factor = is_chosen ? 1 + width * unit_interval(bits) : 1;
      return round_to<T>(with_sign_of(bits, factor));
    }
  }

 private:
  double width;
  double share;
  double even_share;
};

/// Square roots of uniform numbers, of random sign: all multiples of a power of two are as far from
/// their squares, on average, as these are from them.
template <class T>
struct Roots {
  double scale = 1;
  T operator()(std::uint64_t bits) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else {
      return round_to<T>(with_sign_of(bits, scale * std::sqrt(unit_interval(bits))));
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
  bool are_powers = false;  // of two
  T operator()(std::uint64_t bits) const {
    const double unit = unit_interval(bits);
    const double sign_alone = unit < positive ? scale : -scale;
    const auto most = static_cast<double>(limit);
    const double whole = std::min(most, 1 + std::trunc(unit * most));
    const double magnitude = are_powers ? std::exp2(std::floor(std::log2(whole))) : whole;
    const double dense = with_sign_of(bits, magnitude * scale);
    return round_to<T>(limit == 1 ? sign_alone : dense);
  }
};

}  // namespace assay::input
