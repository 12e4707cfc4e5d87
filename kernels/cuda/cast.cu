#include "kernels/core/rounding.h"
#include "kernels/cuda/map.cuh"

namespace assay::cuda {
namespace {

/// Rounds to odd, so that one more rounding to a narrow float equals one rounding of x.
__device__ float odd_float(double x) {
  const float towards_zero = __double2float_rz(x);
  return rounded_to_odd(towards_zero, static_cast<double>(towards_zero) == x);
}
__device__ float odd_float(std::int64_t x) {
  const float towards_zero = __ll2float_rz(x);
  return rounded_to_odd(towards_zero, __float2ll_rz(towards_zero) == x);
}
__device__ float odd_float(std::uint64_t x) {
  const float towards_zero = __ull2float_rz(x);
  return rounded_to_odd(towards_zero, __float2ull_rz(towards_zero) == x);
}
__device__ float odd_float(std::uint32_t x) {
  const float towards_zero = __uint2float_rz(x);
  return rounded_to_odd(towards_zero, __float2uint_rz(towards_zero) == x);
}
__device__ float odd_float(std::int32_t x) {
  const float towards_zero = __int2float_rz(x);
  return rounded_to_odd(towards_zero, __float2int_rz(towards_zero) == x);
}

/// Converts to Y, or for a narrow Y to an f32 whose rounding to Y is the only one. Arguments are
/// widened: narrow floats come as f32.
template <class Y>
struct CastTo {
  template <class X>
  __device__ Computed<Y> operator()(X x) const {
    constexpr bool fits = sizeof(X) < 4 || std::is_same_v<X, float>;
    if constexpr (is_narrow<Y> && !fits) {
      return odd_float(x);
    } else {  // shorter integers fit into an f32
      return static_cast<Computed<Y>>(x);
    }
  }
};

std::unique_ptr<Kernel> cast(const OpInstance& op, const Binding& binding) {
  return visit_dtype(op.dtype(), [&]<class X>(std::type_identity<X>) {
    return visit_dtype(output_dtype(op),
                       [&]<class Y>(std::type_identity<Y>) -> std::unique_ptr<Kernel> {
                         return Mapper::kernel_of<Stored<Y>>(CastTo<Stored<Y>>{}, op, binding,
                                                             input<X>(binding, 0));
                       });
  });
}

constexpr KernelRow rows[] = {
    {"cast", cast},
};

}  // namespace

std::span<const KernelRow> cast_kernels() { return rows; }

}  // namespace assay::cuda
