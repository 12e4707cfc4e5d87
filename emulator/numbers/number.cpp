#include "emulator/numbers/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace emulator {
namespace {

std::vector<float> all_values(const FloatFormat& format) {
  std::vector<float> values(std::size_t{1} << (1 + format.exponent_bits + format.fraction_bits));
  for (std::size_t bits = 0; bits < values.size(); ++bits) {
    values[bits] = decode(static_cast<std::uint32_t>(bits), format);
  }
  return values;
}

/// Values of all codes of one of the four formats that exist.
const std::vector<float>& table(const FloatFormat& format) {
  static const std::vector<float> of_binary16 = all_values(binary16);
  static const std::vector<float> of_bfloat16 = all_values(bfloat16);
  static const std::vector<float> of_e4m3 = all_values(e4m3);
  static const std::vector<float> of_e5m2 = all_values(e5m2);
  switch (format.fraction_bits) {
    case 10:
      return of_binary16;
    case 7:
      return of_bfloat16;
    case 3:
      return of_e4m3;
    default:
      return of_e5m2;
  }
}

template <class Code>
void decode_all(std::span<const Code> from, const FloatFormat& format, float* to) {
  const std::vector<float>& values = table(format);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = values[from[i]];
}

/// Code of what lies beyond the largest number, without the sign.
std::uint32_t infinity_or_largest(const FloatFormat& f) {
  const std::uint32_t top = ((1U << f.exponent_bits) - 1) << f.fraction_bits;
  if (!f.has_infinity) return top | ((1U << f.fraction_bits) - 2);  // below the NaN
  return f.saturates ? top - 1 : top;
}

}  // namespace

float decode(std::uint32_t bits, const FloatFormat& f) {
  const std::uint32_t fraction = bits & ((1U << f.fraction_bits) - 1);
  const std::uint32_t exponent = bits >> f.fraction_bits & ((1U << f.exponent_bits) - 1);
  const bool negative = (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  const bool is_top = exponent == (1U << f.exponent_bits) - 1;
  float value = 0;
  if (is_top && f.has_infinity) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if (is_top && fraction == (1U << f.fraction_bits) - 1) {
    value = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), f.min_exponent() - f.fraction_bits);
  } else {
    value = std::ldexp(static_cast<float>(fraction | 1U << f.fraction_bits),
                       static_cast<int>(exponent) - f.bias() - f.fraction_bits);
  }
  return negative ? -value : value;
}

std::uint32_t encode(double value, const FloatFormat& f) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = bits >> 63 != 0 ? 1U << (f.fraction_bits + f.exponent_bits) : 0;
  if (std::isnan(value)) return (1U << (f.fraction_bits + f.exponent_bits)) - 1;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent == -1023) return sign;  // 0, or far below the smallest number
  if (exponent == 1024) return sign | infinity_or_largest(f);
  const std::uint64_t significand = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1}
                                                                                  << 52;
  // Bits that the format does not hold: more of them below its smallest normal number.
  const int cut = 52 - f.fraction_bits + std::max(0, f.min_exponent() - exponent);
  if (cut > 54) return sign;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << cut) - 1);
  const std::uint64_t half = std::uint64_t{1} << (cut - 1);
  std::uint64_t units = significand >> cut;
  if (rest > half || (rest == half && units % 2 == 1)) ++units;
  // A carry into the next exponent adds up by itself.
  const auto field = static_cast<std::uint64_t>(std::max(0, exponent - f.min_exponent()));
  return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(
                    (field << f.fraction_bits) + units, infinity_or_largest(f)));
}

float truncated_to_tf32(float value) {
  if (std::isnan(value)) return value;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffffe000U);
}

void decode(std::span<const std::uint16_t> from, const FloatFormat& format, float* to) {
  decode_all(from, format, to);
}

void decode(std::span<const std::uint8_t> from, const FloatFormat& format, float* to) {
  decode_all(from, format, to);
}

}  // namespace emulator
