#pragma once

#include <cstdint>

#include "kernels/core/bfloat16.h"

// Products of bf16 by the processor's own instructions: VDPBF16PS of AVX-512, TDPBF16PS of AMX.
// They sum in f32 at twice the rate of f32 or more, but take subnormal numbers for zeros, as
// factors and as sums, whatever the settings (Intel, Instruction Set Extensions Programming
// Reference).
//
// The factors tell whether there can be any. A normal bf16 with exponent e is a multiple of
// 2^(e - 7), so all sums of products are multiples of 2^(e_a + e_b - 14), however they are rounded,
// with the smallest exponents of both. If that is at least 2^-126, none is subnormal.
namespace assay::cpu {

/// Returns true if this processor has such instructions, and oneDNN may use them.
bool has_bf16_unit();

/// Size of the smallest factor that is not zero: its bits without the sign, less one. Of zeros
/// alone: the largest value.
std::uint16_t least_bf16(const BFloat16* x, std::int64_t n);

/// Returns true if neither the factors nor any sum of their products can be subnormal.
constexpr bool are_sums_normal(std::uint16_t least_a, std::uint16_t least_b) {
  constexpr std::uint16_t of_zeros = 0xffff;
  const int exponent_a = (least_a + 1) / 128;  // with its bias of 127; 0: subnormal
  const int exponent_b = (least_b + 1) / 128;
  if (exponent_a == 0 || exponent_b == 0) return false;
  if (least_a == of_zeros || least_b == of_zeros) return true;
  return exponent_a - 127 + exponent_b - 127 - 14 >= -126;
}

/// Returns true if such a bias, added to such sums, gives no subnormal number either.
constexpr bool keeps_sums_normal(std::uint16_t least_bias) {
  return (least_bias + 1) / 128 - 127 - 7 >= -126;
}

/// Rows of x up to which `few_rows_by_unit` is faster, as measured, than oneDNN.
inline constexpr std::int64_t few_rows_of_unit = 24;

/// y[r][c] = sum over i of x[r][i] w[c][i] (+ bias[c]) with sums in f32; `bias` may be null.
/// Returns false, with undefined values in y, unless are_sums_normal() says that it is right.
/// Requires has_bf16_unit().
bool few_rows_by_unit(std::int64_t rows, std::int64_t cols, std::int64_t k, const BFloat16* x,
                      const BFloat16* w, const float* bias, float* y);

}  // namespace assay::cpu
