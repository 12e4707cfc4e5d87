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
    // Chooses between words: to choose between halves, vector code packs both and the condition.
    const std::uint32_t kept = value != value ? (word | 0x400000U) & 0xffff0000U : word;
    bits = static_cast<std::uint16_t>((kept + 0x7fffU + ((kept >> 16) & 1U)) >> 16);
  }

  explicit constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

}  // namespace assay
