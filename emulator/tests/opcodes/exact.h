#pragma once

#include <cstdint>

namespace emulator::test {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// The PTX modifiers .rn, .rz, .rm and .rp.
enum class Rounding { nearest_even, toward_zero, down, up };

/// An IEEE 754 binary format.
struct Format {
  int bits, precision, min_exponent, max_exponent;

  std::uint64_t sign() const { return std::uint64_t{1} << (bits - 1); }
  std::uint64_t infinity() const {
    return static_cast<std::uint64_t>(max_exponent - min_exponent + 2) << (precision - 1);
  }
  std::uint64_t one() const { return static_cast<std::uint64_t>(max_exponent) << (precision - 1); }
  std::uint64_t min_normal() const { return std::uint64_t{1} << (precision - 1); }
  std::uint64_t quiet_bit() const { return std::uint64_t{1} << (precision - 2); }
  std::uint64_t magnitude(std::uint64_t x) const { return x & (sign() - 1); }
  bool is_nan(std::uint64_t x) const { return magnitude(x) > infinity(); }
  bool is_infinite(std::uint64_t x) const { return magnitude(x) == infinity(); }
  bool is_zero(std::uint64_t x) const { return magnitude(x) == 0; }
  bool is_subnormal(std::uint64_t x) const { return !is_zero(x) && magnitude(x) < min_normal(); }
  bool is_negative(std::uint64_t x) const { return (x & sign()) != 0; }
  std::uint64_t flushed(std::uint64_t x) const { return is_subnormal(x) ? x & sign() : x; }
};

inline constexpr Format f16{16, 11, -14, 15}, f32{32, 24, -126, 127}, f64{64, 53, -1022, 1023};

/// An unsigned integer of 256 bits, as much of one as exact sums of products need.
struct UInt256 {
  UInt128 high = 0, low = 0;

  int top_bit() const;  // -1: zero
  bool bit(int position) const;
  bool any_below(int position) const;
  UInt256 left(int count) const;
  UInt256 right(int count) const;
  /// The lowest bit also tells whether a one was shifted out.
  UInt256 right_sticky(int count) const;
  UInt256 plus(const UInt256& other) const;
  UInt256 minus(const UInt256& other) const;
  bool less(const UInt256& other) const;
};

/// (-1)^negative * significand * 2^exponent; zero when the significand is.
struct Exact {
  bool negative = false;
  UInt256 significand;
  int exponent = 0;
};

/// The value of a finite number.
Exact decode(Format format, std::uint64_t x);

/// The number that IEEE 754 wants for the value; a zero keeps its sign.
std::uint64_t round(Format format, const Exact& value, Rounding rounding);

/// The integer that the value rounds to, limited to [min, max].
Int128 round_to_integer(const Exact& value, Rounding rounding, Int128 min, Int128 max);

// Operations on numbers that are no NaN; the results of 0 * infinity and the like are a NaN.
std::uint64_t fma(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                  Rounding rounding);
std::uint64_t add(Format format, std::uint64_t a, std::uint64_t b, Rounding rounding);
std::uint64_t multiply(Format format, std::uint64_t a, std::uint64_t b, Rounding rounding);
std::uint64_t divide(Format format, std::uint64_t a, std::uint64_t b, Rounding rounding);
std::uint64_t square_root(Format format, std::uint64_t a, Rounding rounding);

/// The nearest number to a long double, whose 64 bits exceed both formats'.
std::uint64_t from_long_double(Format format, long double x);
long double to_long_double(Format format, std::uint64_t x);

}  // namespace emulator::test
