#pragma once

#include <bit>
#include <cstdint>

#include "emulator/machine/decoder.h"

// Numbers of 16 bits: f16 (5 bits of exponent, 10 of fraction) and, where `brain` is true, bf16 (8
// and 7).
namespace emulator {

inline constexpr std::uint16_t half_nan = 0x7fff;

template <bool brain>
double half_to_double(std::uint16_t bits);
extern template double half_to_double<false>(std::uint16_t);
extern template double half_to_double<true>(std::uint16_t);

template <bool brain>
inline bool is_half_nan(std::uint16_t bits) {
  return (bits & 0x7fff) > (brain ? 0x7f80 : 0x7c00);
}

/// A subnormal number becomes a zero of its sign.
template <bool brain>
inline std::uint16_t flushed_half(std::uint16_t bits) {
  return (bits & (brain ? 0x7f80 : 0x7c00)) == 0 ? bits & 0x8000 : bits;
}

template <bool brain>
std::uint16_t round_to_half(double value, Rounding rounding);
extern template std::uint16_t round_to_half<false>(double, Rounding);
extern template std::uint16_t round_to_half<true>(double, Rounding);

/// a * b + c, rounded once.
template <bool brain>
std::uint16_t half_fma(std::uint16_t a, std::uint16_t b, std::uint16_t c);
extern template std::uint16_t half_fma<false>(std::uint16_t, std::uint16_t, std::uint16_t);
extern template std::uint16_t half_fma<true>(std::uint16_t, std::uint16_t, std::uint16_t);

}  // namespace emulator
