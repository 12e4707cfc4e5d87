#pragma once

#include <bit>
#include <cstdint>

namespace assay {

/// Stores an IEEE binary16. Callers compute in f32. The conversions have no branches, so that
/// compilers vectorise them. They need a floating-point environment that rounds to nearest and
/// keeps subnormals.
struct Float16 {
  std::uint16_t bits = 0;

  constexpr Float16() = default;

  /// Rounds to nearest, ties to even. Values from 65520, half an ulp beyond 65504, become infinity.
  /// A NaN stays a NaN (its payload is lost).
  explicit constexpr Float16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16) & 0x8000U;
    const std::uint32_t magnitude = word & 0x7fffffffU;
    // Normal results: the exponent's bias changes from 127 to 15, and 13 bits are rounded away.
    const std::uint32_t normal =
        (magnitude - (112U << 23) + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
    // Subnormal results: adding 0.5, whose last f32 bit is worth 2^-24, does the rounding.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
    std::uint32_t half = magnitude < (113U << 23) ? subnormal : normal;
    half = magnitude >= 0x477ff000U ? 0x7c00U : half;  // 65520
    half = magnitude > 0x7f800000U ? 0x7e00U : half;
    bits = static_cast<std::uint16_t>(half | sign);
  }

  explicit constexpr operator float() const {
    const std::uint32_t sign = (bits & std::uint32_t{0x8000}) << 16;
    const std::uint32_t shifted = (bits & std::uint32_t{0x7fff}) << 13;
    // The scaling corrects the exponent's bias and decodes subnormals.
    const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(shifted) * 0x1p112F);
    const std::uint32_t magnitude = shifted >= (0x7c00U << 13) ? shifted | 0x7f800000U : finite;
    return std::bit_cast<float>(magnitude | sign);
  }
};

}  // namespace assay
