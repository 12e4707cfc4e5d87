#include "kernels/core/rounding.h"
#include "kernels/cuda/map.cuh"

namespace assay::cuda {
namespace {

/// Converts to Y with one rounding. Arguments are widened: narrow floats come as f32. The
/// constructors of CUDA's 8-bit floats saturate (__NV_SATFINITE).
template <class Y>
struct CastTo {
  template <class X>
  __device__ Y operator()(X x) const {
    if constexpr (!is_narrow<Y>) {
      return static_cast<Y>(x);
    } else if constexpr (std::is_same_v<X, std::int64_t> || std::is_same_v<X, double>) {
      return static_cast<Y>(rounded_to_odd(x));
    } else if constexpr (std::is_same_v<X, std::int32_t>) {
      return static_cast<Y>(rounded_to_odd(static_cast<double>(x)));
    } else {  // f32, and 8-bit integers, which fit into an f32
      return static_cast<Y>(static_cast<float>(x));
    }
  }
};

std::unique_ptr<Kernel> cast(const OpInstance& op, const Binding& binding) {
  return visit_dtype(op.dtype, [&]<class X>(std::type_identity<X>) {
    return visit_dtype(
        output_dtype(op), [&]<class Y>(std::type_identity<Y>) -> std::unique_ptr<Kernel> {
          return std::make_unique<FunctionKernel>(
              map_text(op), binding,
              [=, spec = op.signature.outputs[0], x = input<X>(binding, 0), y = output<Y>(binding)](
                  cudaStream_t s) { map_rows(s, spec, CastTo<Stored<Y>>{}, y, x); });
        });
  });
}

constexpr KernelRow rows[] = {
    {"cast", cast},
};

}  // namespace

std::span<const KernelRow> cast_kernels() { return rows; }

}  // namespace assay::cuda
