#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Floats of 16 and 8 bits, as IEEE 754 and the OCP 8-bit floating point specification (OFP8) define
// them.
namespace emulator {

/// Layout of a binary float with a sign bit. E4M3 has no infinity: its topmost code is NaN and the
/// other codes of the largest exponent are numbers.
struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity = true;
  /// Values beyond the largest number become it, as PTX's cvt.satfinite does. Else infinity.
  bool saturates = false;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int min_exponent() const { return 1 - bias(); }
};

inline constexpr FloatFormat binary16{5, 10};
inline constexpr FloatFormat bfloat16{8, 7};
inline constexpr FloatFormat e4m3{4, 3, false, true};
inline constexpr FloatFormat e5m2{5, 2, true, true};

/// The value of the low 1 + exponent_bits + fraction_bits bits.
float decode(std::uint32_t bits, const FloatFormat& format);

/// Rounds to nearest, ties to even, in one step. NaN becomes the format's canonical NaN.
std::uint32_t encode(double value, const FloatFormat& format);

/// Drops the 13 bits of a float that TF32 does not hold, as matrix units read such an operand.
float truncated_to_tf32(float value);

/// Decodes elements of 16 or 8 bits; tables make it cheap.
void decode(std::span<const std::uint16_t> from, const FloatFormat& format, float* to);
void decode(std::span<const std::uint8_t> from, const FloatFormat& format, float* to);

}  // namespace emulator
