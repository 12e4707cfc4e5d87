#pragma once

#include <bit>
#include <cstdint>

#include "kernels/core/float8.h"

// Conversion of numbers to block-scaled formats, for CPUs and GPUs; docs/block-scaled.md defines
// the results. Callers widen numbers to f32; all are finite.
namespace assay {

/// E2M1: a sign, two bits of exponent with bias 1, one of the significand. No infinity, no NaN.
inline constexpr float8::Format e2m1{.stored = 1, .bias = 1, .largest = 7, .infinity = 0, .nan = 7};

/// floor(log2(x)) of a positive normal number; -127 for zero and subnormal ones.
constexpr int exponent_of(float x) {
  return static_cast<int>(std::bit_cast<std::uint32_t>(x) >> 23U) - 127;
}

/// Elements of E4M3 or E2M1 in blocks of 32 with scales of E8M0.
template <bool Packed>
struct Microscaling {
  static constexpr int block = 32;
  static constexpr bool is_packed = Packed;
  static constexpr int element_exponent = Packed ? 2 : 8;  // of the largest element
  std::uint8_t scale;                                      // 2^(scale - 127)
  float inverse;

  /// `largest` is the largest magnitude of the block. The scale is 2^(floor(log2(largest)) - the
  /// element's exponent), at least 2^-127: "OCP Microscaling Formats (MX) Specification", version
  /// 1.0, 2023, section 6.3.
  explicit constexpr Microscaling(float largest)
      : scale(biased(exponent_of(largest) - element_exponent)),
        inverse(std::bit_cast<float>((std::uint32_t{254} - scale) << 23U)) {}

  /// The nearest element to x / scale. The quotient is exact, or far below the smallest element.
  constexpr std::uint8_t element(float x) const {
    return float8::encode < Packed ? e2m1 : Float8E4M3::format > (x * inverse);
  }

 private:
  static constexpr std::uint8_t biased(int exponent) {
    return static_cast<std::uint8_t>(exponent < -127 ? 0 : exponent + 127);
  }
};

/// Elements of E2M1 in blocks of 16 with scales of E4M3 that have no sign.
struct Nvfp4 {
  static constexpr int block = 16;
  static constexpr bool is_packed = true;
  static constexpr float max_element_value = 6;
  std::uint8_t scale;
  float divisor;  // the scale; infinite for 0, so that all elements are zeros

  /// The nearest scale to largest / 6.
  explicit constexpr Nvfp4(float largest)
      : scale(float8::encode<Float8E4M3::format>(largest / max_element_value)),
        divisor(scale == 0 ? std::bit_cast<float>(0x7f800000U)
                           : float8::decode<Float8E4M3::format>(scale)) {}

  /// The nearest element to x / scale. The quotient may be rounded to f32 before: scale times a
  /// number in the middle between two elements is an f32.
  constexpr std::uint8_t element(float x) const { return float8::encode<e2m1>(x / divisor); }
};

/// Code of E2M1 in half a byte, from the one with its sign in the highest bit of a byte.
constexpr std::uint32_t half_byte(std::uint32_t code) { return (code & 7U) | (code & 0x80U) >> 4U; }

}  // namespace assay
