#pragma once

#include <bit>
#include <cstdint>

// 8-bit floats of the "OCP 8-bit Floating Point Specification (OFP8)", revision 1.0, 2023. Like the
// other narrow floats they are storage only: callers compute in f32. The conversions have no
// branches, so that compilers vectorise them. They need a floating-point environment that rounds to
// nearest and keeps subnormals.
namespace assay {
namespace float8 {

/// Layout of a format: a sign, then the exponent, then `stored` bits of the significand.
struct Format {
  int stored;
  int bias;
  std::uint32_t largest;   // code of the largest finite number; infinity and NaN have larger codes
  std::uint32_t infinity;  // 0: none
  std::uint32_t nan;
};

/// Rounds to nearest, ties to even. Larger values, infinities too, become the largest finite
/// number, as in CUDA's conversions (__NV_SATFINITE).
template <Format format>
constexpr std::uint8_t encode(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = word & 0x7fffffffU;
  const int cut = 23 - format.stored;
  const std::uint32_t rebias = static_cast<std::uint32_t>(127 - format.bias) << 23;
  const std::uint32_t below_half = (std::uint32_t{1} << (cut - 1)) - 1;
  // Normal results: the exponent's bias changes, and `cut` bits are rounded away.
  const std::uint32_t normal = (magnitude - rebias + below_half + ((magnitude >> cut) & 1U)) >> cut;
  // Subnormal results: adding a number whose last f32 bit has their weight does the rounding.
  const std::uint32_t beside = rebias + (static_cast<std::uint32_t>(cut + 1) << 23);
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(beside)) -
      beside;
  const bool is_subnormal = magnitude < rebias + (1U << 23);
  std::uint32_t code = is_subnormal ? subnormal : normal;
  code = code > format.largest ? format.largest : code;
  code = magnitude > 0x7f800000U ? format.nan : code;
  return static_cast<std::uint8_t>(code | ((word >> 24) & 0x80U));
}

template <Format format>
constexpr float decode(std::uint8_t bits) {
  const std::uint32_t sign = (bits & std::uint32_t{0x80}) << 24;
  const std::uint32_t code = bits & std::uint32_t{0x7f};
  const std::uint32_t shifted = code << (23 - format.stored);
  // The scaling corrects the exponent's bias and decodes subnormals.
  const auto scale =
      std::bit_cast<float>(static_cast<std::uint32_t>(127 + 127 - format.bias) << 23);
  const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(shifted) * scale);
  const std::uint32_t other = code == format.infinity ? 0x7f800000U : 0x7fc00000U;
  return std::bit_cast<float>((code > format.largest ? other : finite) | sign);
}

}  // namespace float8

/// E4M3: numbers up to 448, no infinity, and one NaN of each sign.
struct Float8E4M3 {
  std::uint8_t bits = 0;

  constexpr Float8E4M3() = default;
  explicit constexpr Float8E4M3(float value) : bits(float8::encode<format>(value)) {}
  explicit constexpr operator float() const { return float8::decode<format>(bits); }

  static constexpr float8::Format format{
      .stored = 3, .bias = 7, .largest = 0x7e, .infinity = 0, .nan = 0x7f};
};

/// E5M2: the upper half of an IEEE binary16, with its infinities and NaNs; numbers up to 57344.
struct Float8E5M2 {
  std::uint8_t bits = 0;

  constexpr Float8E5M2() = default;
  explicit constexpr Float8E5M2(float value) : bits(float8::encode<format>(value)) {}
  explicit constexpr operator float() const { return float8::decode<format>(bits); }

  static constexpr float8::Format format{
      .stored = 2, .bias = 15, .largest = 0x7b, .infinity = 0x7c, .nan = 0x7e};
};

}  // namespace assay
