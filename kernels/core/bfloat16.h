#pragma once

#include <bit>
#include <cstdint>

namespace assay {

/// Stores bfloat16: the upper half of an IEEE binary32. Callers compute in f32.
struct BFloat16 {
  std::uint16_t bits = 0;

  constexpr BFloat16() = default;

  /// Rounds to nearest, ties to even. A NaN stays a NaN (its payload is truncated and made quiet).
  explicit constexpr BFloat16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (word & 0x7fffffffU) > 0x7f800000U;
    const std::uint32_t rounding = 0x7fffU + ((word >> 16) & 1U);
    bits = static_cast<std::uint16_t>(is_nan ? (word >> 16) | 0x40U : (word + rounding) >> 16);
  }

  explicit constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

}  // namespace assay
