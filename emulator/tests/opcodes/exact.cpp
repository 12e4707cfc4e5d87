#include "emulator/tests/opcodes/exact.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace emulator::test {
namespace {

int top_bit_of(UInt128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  if (high != 0) return 127 - std::countl_zero(high);
  return 63 - std::countl_zero(static_cast<std::uint64_t>(x));  // -1 for zero
}

std::uint64_t nan_of(Format format) { return format.infinity() | format.quiet_bit(); }

std::uint64_t signed_zero(Format format, bool negative) { return negative ? format.sign() : 0; }

std::uint64_t signed_infinity(Format format, bool negative) {
  return format.infinity() | signed_zero(format, negative);
}

// Whether a positive or negative magnitude grows by one unit, given the bits that rounding drops.
bool rounds_away(Rounding rounding, bool negative, bool odd, bool half, bool rest) {
  switch (rounding) {
    case Rounding::nearest_even:
      return half && (rest || odd);
    case Rounding::toward_zero:
      return false;
    case Rounding::down:
      return negative && (half || rest);
    case Rounding::up:
      return !negative && (half || rest);
  }
  return false;
}

// floor(value / 2^shift), rounded; shift > 0.
UInt256 shifted_and_rounded(const UInt256& value, int shift, Rounding rounding, bool negative) {
  const UInt256 kept = value.right(shift);
  const bool half = value.bit(shift - 1), rest = value.any_below(shift - 1);
  if (!rounds_away(rounding, negative, kept.bit(0), half, rest)) return kept;
  return kept.plus({0, 1});
}

// The sum of two nonzero values, exact but for a sticky bit far below any rounding position.
Exact sum(Exact a, Exact b, Rounding rounding) {
  constexpr int room = 254;  // one bit is left for the carry
  const auto normalise = [](Exact& x) {
    const int shift = room - x.significand.top_bit();
    x.significand = x.significand.left(shift);
    x.exponent -= shift;
  };
  normalise(a);
  normalise(b);
  if (a.exponent < b.exponent) std::swap(a, b);
  b.significand = b.significand.right_sticky(a.exponent - b.exponent);
  if (a.negative == b.negative) {
    a.significand = a.significand.plus(b.significand);
    return a;
  }
  if (a.significand.less(b.significand))
    std::swap(a.significand, b.significand), a.negative = b.negative;
  a.significand = a.significand.minus(b.significand);
  if (a.significand.top_bit() < 0) a.negative = rounding == Rounding::down;
  return a;
}

}  // namespace

int UInt256::top_bit() const { return high != 0 ? 128 + top_bit_of(high) : top_bit_of(low); }

bool UInt256::bit(int position) const {
  if (position < 0 || position > 255) return false;
  return (((position >= 128 ? high : low) >> (position % 128)) & 1) != 0;
}

bool UInt256::any_below(int position) const {
  if (position <= 0) return false;
  if (position >= 256) return (high | low) != 0;
  const UInt256 dropped = left(256 - position);
  return (dropped.high | dropped.low) != 0;
}

UInt256 UInt256::left(int count) const {
  if (count == 0) return *this;
  if (count >= 256) return {};
  if (count >= 128) return {low << (count - 128), 0};
  return {(high << count) | (low >> (128 - count)), low << count};
}

UInt256 UInt256::right(int count) const {
  if (count == 0) return *this;
  if (count >= 256) return {};
  if (count >= 128) return {0, high >> (count - 128)};
  return {high >> count, (low >> count) | (high << (128 - count))};
}

UInt256 UInt256::right_sticky(int count) const {
  UInt256 result = right(count);
  if (any_below(count)) result.low |= 1;
  return result;
}

UInt256 UInt256::plus(const UInt256& other) const {
  UInt256 result{high + other.high, low + other.low};
  if (result.low < low) ++result.high;
  return result;
}

UInt256 UInt256::minus(const UInt256& other) const {
  return {high - other.high - (low < other.low ? 1 : 0), low - other.low};
}

bool UInt256::less(const UInt256& other) const {
  return high != other.high ? high < other.high : low < other.low;
}

Exact decode(Format format, std::uint64_t x) {
  const std::uint64_t magnitude = format.magnitude(x);
  const std::uint64_t hidden = format.min_normal();
  const auto biased = static_cast<int>(magnitude >> (format.precision - 1));
  const std::uint64_t fraction = magnitude & (hidden - 1);
  const int smallest = format.min_exponent - format.precision + 1;
  if (biased == 0) return {format.is_negative(x), {0, fraction}, smallest};
  return {format.is_negative(x), {0, fraction | hidden}, smallest + biased - 1};
}

std::uint64_t round(Format format, const Exact& value, Rounding rounding) {
  const std::uint64_t sign = signed_zero(format, value.negative);
  const int top = value.significand.top_bit();
  if (top < 0) return sign;
  const int exponent = top + value.exponent;
  const bool subnormal = exponent < format.min_exponent;
  const int unit = (subnormal ? format.min_exponent : exponent) - format.precision + 1;
  const int shift = unit - value.exponent;
  const UInt256 kept =
      shift <= 0 ? value.significand.left(-shift)
                 : shifted_and_rounded(value.significand, shift, rounding, value.negative);
  std::uint64_t bits = static_cast<std::uint64_t>(kept.low);
  if (exponent > format.max_exponent) {
    bits = format.infinity();
  } else if (!subnormal) {
    // A carry out of the significand raises the exponent field, as it should.
    bits += static_cast<std::uint64_t>(exponent - format.min_exponent) << (format.precision - 1);
  }
  if (bits >= format.infinity()) {
    const bool away = rounds_away(rounding, value.negative, true, true, true);
    bits = away ? format.infinity() : format.infinity() - 1;
  }
  return bits | sign;
}

Int128 round_to_integer(const Exact& value, Rounding rounding, Int128 min, Int128 max) {
  const int top = value.significand.top_bit();
  if (top < 0) return 0;
  if (top + value.exponent > 100) return value.negative ? min : max;
  const UInt256 integer =
      value.exponent >= 0
          ? value.significand.left(value.exponent)
          : shifted_and_rounded(value.significand, -value.exponent, rounding, value.negative);
  const auto magnitude = static_cast<Int128>(integer.low);
  const Int128 result = value.negative ? -magnitude : magnitude;
  return result < min ? min : result > max ? max : result;
}

std::uint64_t fma(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                  Rounding rounding) {
  const bool negative = format.is_negative(a) != format.is_negative(b);
  if (format.is_infinite(a) || format.is_infinite(b)) {
    if (format.is_zero(a) || format.is_zero(b)) return nan_of(format);
    const bool opposite = format.is_infinite(c) && format.is_negative(c) != negative;
    return opposite ? nan_of(format) : signed_infinity(format, negative);
  }
  if (format.is_infinite(c)) return c;
  if (format.is_zero(a) || format.is_zero(b)) {
    if (!format.is_zero(c)) return c;
    if (negative == format.is_negative(c)) return c;
    return signed_zero(format, rounding == Rounding::down);
  }
  const Exact x = decode(format, a), y = decode(format, b);
  const Exact product{
      negative, {0, x.significand.low * y.significand.low}, x.exponent + y.exponent};
  if (format.is_zero(c)) return round(format, product, rounding);
  return round(format, sum(product, decode(format, c), rounding), rounding);
}

std::uint64_t add(Format format, std::uint64_t a, std::uint64_t b, Rounding rounding) {
  return fma(format, a, format.one(), b, rounding);
}

std::uint64_t multiply(Format format, std::uint64_t a, std::uint64_t b, Rounding rounding) {
  const bool negative = format.is_negative(a) != format.is_negative(b);
  return fma(format, a, b, signed_zero(format, negative), rounding);
}

std::uint64_t divide(Format format, std::uint64_t a, std::uint64_t b, Rounding rounding) {
  const bool negative = format.is_negative(a) != format.is_negative(b);
  if (format.is_infinite(a)) {
    return format.is_infinite(b) ? nan_of(format) : signed_infinity(format, negative);
  }
  if (format.is_infinite(b)) return signed_zero(format, negative);
  if (format.is_zero(b)) {
    return format.is_zero(a) ? nan_of(format) : signed_infinity(format, negative);
  }
  if (format.is_zero(a)) return signed_zero(format, negative);
  const Exact x = decode(format, a), y = decode(format, b);
  const int shift = 126 - top_bit_of(x.significand.low);
  const UInt128 numerator = x.significand.low << shift;
  UInt128 quotient = numerator / y.significand.low;
  if (numerator % y.significand.low != 0) quotient |= 1;  // below the 54 bits that rounding reads
  return round(format, {negative, {0, quotient}, x.exponent - shift - y.exponent}, rounding);
}

std::uint64_t square_root(Format format, std::uint64_t a, Rounding rounding) {
  if (format.is_zero(a)) return a;
  if (format.is_negative(a)) return nan_of(format);
  if (format.is_infinite(a)) return a;
  const Exact x = decode(format, a);
  int shift = 124 - top_bit_of(x.significand.low);
  if ((x.exponent - shift) % 2 != 0) ++shift;
  const UInt128 radicand = x.significand.low << shift;
  UInt128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const UInt128 candidate = root | (UInt128{1} << bit);
    if (candidate * candidate <= radicand) root = candidate;
  }
  UInt128 doubled = root << 1;
  if (root * root != radicand) doubled |= 1;
  return round(format, {false, {0, doubled}, (x.exponent - shift) / 2 - 1}, rounding);
}

std::uint64_t from_long_double(Format format, long double x) {
  if (std::isnan(x)) return nan_of(format);
  const bool negative = std::signbit(x);
  if (std::isinf(x)) return signed_infinity(format, negative);
  int exponent = 0;
  const long double fraction = std::frexp(std::fabs(x), &exponent);
  const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  return round(format, {negative, {0, significand}, exponent - 64}, Rounding::nearest_even);
}

long double to_long_double(Format format, std::uint64_t x) {
  const bool negative = format.is_negative(x);
  long double result = 0;
  if (format.is_nan(x)) return std::numeric_limits<long double>::quiet_NaN();
  if (format.is_infinite(x)) {
    result = std::numeric_limits<long double>::infinity();
  } else {
    const Exact value = decode(format, x);
    result = std::ldexp(static_cast<long double>(static_cast<std::uint64_t>(value.significand.low)),
                        value.exponent);
  }
  return negative ? -result : result;
}

}  // namespace emulator::test
