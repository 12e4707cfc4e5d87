#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <type_traits>

#include "kernels/core/bfloat16.h"
#include "kernels/core/float16.h"
#include "kernels/core/float8.h"
#include "kernels/cuda/kernels.h"

namespace assay::cuda {

/// CUDA's own type with the bits of T, for which instructions exist.
template <class T>
struct StoredAs {
  using type = T;
};
template <>
struct StoredAs<Float16> {
  using type = __half;
};
template <>
struct StoredAs<BFloat16> {
  using type = __nv_bfloat16;
};
template <>
struct StoredAs<Float8E4M3> {
  using type = __nv_fp8_e4m3;
};
template <>
struct StoredAs<Float8E5M2> {
  using type = __nv_fp8_e5m2;
};
template <class T>
using Stored = typename StoredAs<T>::type;

template <class S>
inline constexpr bool is_narrow =
    std::is_same_v<S, __half> || std::is_same_v<S, __nv_bfloat16> ||
    std::is_same_v<S, __nv_fp8_e4m3> || std::is_same_v<S, __nv_fp8_e5m2>;

/// Type in which an element is computed: f32 for floats of 16 and 8 bits, else its own.
template <class S>
using Computed = std::conditional_t<is_narrow<S>, float, S>;

template <class S>
__device__ Computed<S> widened(S x) {
  return static_cast<Computed<S>>(x);
}

/// Type in which sums and products are kept: as Computed, but integers wrap as unsigned.
template <class S, bool = std::is_integral_v<S>>
struct AccumulatorOf {
  using type = Computed<S>;
};
template <class S>
struct AccumulatorOf<S, true> {
  using type = std::make_unsigned_t<S>;
};
template <class S>
using Accumulator = typename AccumulatorOf<S>::type;

/// Device addresses of the op's tensors.
template <class T>
const Stored<T>* input(const Binding& binding, std::size_t i) {
  return static_cast<const Stored<T>*>(binding.inputs[i]);
}
template <class T>
Stored<T>* output(const Binding& binding) {
  return static_cast<Stored<T>*>(binding.outputs[0]);
}

}  // namespace assay::cuda
