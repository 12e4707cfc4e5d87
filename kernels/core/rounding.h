#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace assay {

/// Rounds to odd: rounding the result once more, to 16 bits, equals one rounding of `value`. Boldo,
/// Melquiond: "Emulation of a FMA and correctly rounded sums", IEEE Trans. Comput. 57(4), 2008.
constexpr float rounded_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const auto magnitude = [](double x) { return x < 0 ? -x : x; };
  const bool beyond = magnitude(static_cast<double>(nearest)) > magnitude(value);
  const std::uint32_t odd = (bits - (beyond ? 1U : 0U)) | 1U;
  return static_cast<double>(nearest) == value ? nearest : std::bit_cast<float>(odd);
}

/// Rounds to odd a value that is given rounded towards zero. The largest float, which stands for
/// all values beyond, is odd already.
constexpr float rounded_to_odd(float towards_zero, bool is_exact) {
  const auto bits = std::bit_cast<std::uint32_t>(towards_zero);
  return std::bit_cast<float>(bits | (is_exact ? 0U : 1U));
}

/// Rounds a 64-bit integer to odd. Bits that a double cannot hold are kept as one odd bit.
constexpr float rounded_to_odd(std::uint64_t magnitude) {
  const std::uint64_t low = magnitude & 0xfffU;
  const bool fits = magnitude < (std::uint64_t{1} << 53);
  const std::uint64_t kept = fits ? magnitude : (magnitude - low) | (low != 0 ? 0x1000U : 0U);
  const auto wide = static_cast<double>(static_cast<std::int64_t>(kept >> 1U)) * 2 +
                    static_cast<double>(kept & 1U);
  return rounded_to_odd(wide);
}
constexpr float rounded_to_odd(std::int64_t value) {
  const auto all = static_cast<std::uint64_t>(value);
  return value < 0 ? -rounded_to_odd(0 - all) : rounded_to_odd(all);
}

/// Rounds a + b to odd: one more rounding, to at least two bits fewer, equals one rounding of the
/// sum. The rounding error of the sum is computed by Knuth's method (TAOCP vol. 2, 4.2.2, theorem
/// B).
template <std::floating_point T>
constexpr T sum_rounded_to_odd(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const T sum = a + b;
  const T b_part = sum - a;
  const T rest = (a - (sum - b_part)) + (b - b_part);
  const auto bits = std::bit_cast<Bits>(sum);
  const bool is_exact = !(rest < 0 || rest > 0);  // also for infinities and NaN, whose rest is NaN
  const Bits odd = (rest > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return std::bit_cast<T>(is_exact || (bits & 1U) != 0 ? bits : odd);
}

}  // namespace assay
