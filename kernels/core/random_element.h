#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/bfloat16.h"
#include "kernels/core/float16.h"

namespace assay {

/// An element of the op `random` from its 64 random bits. Floats: the topmost p bits, as a fraction
/// of [0, 1), which T holds exactly. Integers: the lowest bits. Processors convert signed integers
/// of 32 bits many at once.
template <class T>
constexpr T random_element(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(bits >> 11U) * 0x1p-53;
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(static_cast<std::int32_t>(bits >> 40U)) * 0x1p-24F;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return T(static_cast<float>(static_cast<std::int32_t>(bits >> 53U)) * 0x1p-11F);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(static_cast<std::int32_t>(bits >> 56U)) * 0x1p-8F);
  } else {
    return static_cast<T>(bits);
  }
}

}  // namespace assay
