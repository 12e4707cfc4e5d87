#pragma once

#include <bit>

#include "kernels/cuda/storage_types.cuh"
#include "kernels/cuda/vector.cuh"

// Conversions between stored elements and those in which they are computed, in pairs where one
// instruction does two. GPUs without instructions for a format use the ones of kernels/core, which
// are shorter than those of CUDA's headers.
namespace assay::cuda {

template <class S>
inline constexpr bool is_float8 =
    std::is_same_v<S, __nv_fp8_e4m3> || std::is_same_v<S, __nv_fp8_e5m2>;

template <class S>
inline constexpr __nv_fp8_interpretation_t float8_format =
    std::is_same_v<S, __nv_fp8_e5m2> ? __NV_E5M2 : __NV_E4M3;

/// Type of kernels/core with the bits of S.
template <class S>
using CoreFloat8 = std::conditional_t<std::is_same_v<S, __nv_fp8_e5m2>, Float8E5M2, Float8E4M3>;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
inline constexpr bool has_float8_instructions = false;
#else
inline constexpr bool has_float8_instructions = true;
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool has_bfloat16_instructions = false;
#else
inline constexpr bool has_bfloat16_instructions = true;
#endif

/// Widens all elements: see widened in storage_types.cuh.
template <class S, int N>
__device__ Vector<Computed<S>, N> widened(const Vector<S, N>& from) {
  if constexpr (!is_narrow<S>) {
    return from;
  } else {
    Vector<float, N> to;
    if constexpr (is_float8<S> && has_float8_instructions && N > 1) {
      struct Pairs {
        __nv_fp8x2_storage_t at[N / 2];
      };
      const auto pairs = std::bit_cast<Pairs>(from);
#pragma unroll
      for (int i = 0; i < N / 2; ++i) {
        const __half2 pair = __nv_cvt_fp8x2_to_halfraw2(pairs.at[i], float8_format<S>);
        to.at[2 * i] = __low2float(pair);
        to.at[2 * i + 1] = __high2float(pair);
      }
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if constexpr (is_float8<S> && !has_float8_instructions) {
          to.at[i] = static_cast<float>(std::bit_cast<CoreFloat8<S>>(from.at[i]));
        } else {
          to.at[i] = widened(from.at[i]);
        }
      }
    }
    return to;
  }
}

/// Rounds two floats to narrower ones.
template <class S>
__device__ Vector<S, 2> rounded_pair(float first, float second) {
  if constexpr (std::is_same_v<S, __half>) {
    const __half2 pair = __floats2half2_rn(first, second);
    return {{pair.x, pair.y}};
  } else if constexpr (std::is_same_v<S, __nv_bfloat16> && has_bfloat16_instructions) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    return {{pair.x, pair.y}};
  } else if constexpr (std::is_same_v<S, __nv_bfloat16>) {
    return {{std::bit_cast<S>(BFloat16(first)), std::bit_cast<S>(BFloat16(second))}};
  } else if constexpr (has_float8_instructions) {
    return std::bit_cast<Vector<S, 2>>(
        __nv_cvt_float2_to_fp8x2({first, second}, __NV_SATFINITE, float8_format<S>));
  } else {
    return {{std::bit_cast<S>(CoreFloat8<S>(first)), std::bit_cast<S>(CoreFloat8<S>(second))}};
  }
}

/// Converts all elements to S. Narrow floats are rounded from f32.
template <class S, class C, int N>
__device__ Vector<S, N> stored(const Vector<C, N>& from) {
  if constexpr (is_narrow<S> && N > 1) {
    struct Pairs {
      Vector<S, 2> at[N / 2];
    };
    Pairs pairs;
#pragma unroll
    for (int i = 0; i < N / 2; ++i) {
      pairs.at[i] = rounded_pair<S>(from.at[2 * i], from.at[2 * i + 1]);
    }
    return std::bit_cast<Vector<S, N>>(pairs);
  } else {
    Vector<S, N> to;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if constexpr (is_narrow<S>) {
        to.at[i] = rounded_pair<S>(from.at[i], from.at[i]).at[0];
      } else {
        to.at[i] = static_cast<S>(from.at[i]);
      }
    }
    return to;
  }
}

}  // namespace assay::cuda
