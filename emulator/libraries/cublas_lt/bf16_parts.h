#pragma once

#include <cstdint>
#include <vector>

// FP32 emulated by BF16: each factor is the sum of three BF16 numbers, and nine products of parts
// make one product. NVIDIA publishes no details of cuBLAS's splitting; parts are rounded to nearest
// here. Infinities become NaN: "non-numbers are treated as interchangeable error indicators" (CUDA
// 12.9, release notes).
namespace emulator::cublas_lt {

inline constexpr std::int64_t partial_products = 9;

/// Factors of k' = 9 k terms: replaces each run of `width` elements by nine runs of their parts.
/// The nine of a first and of a second factor pair each part with each.
std::vector<float> first_in_parts(const std::vector<float>& factors, std::int64_t width);
std::vector<float> second_in_parts(const std::vector<float>& factors, std::int64_t width);

}  // namespace emulator::cublas_lt
