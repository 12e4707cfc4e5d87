#include <type_traits>

#include "kernels/core/rounding.h"
#include "kernels/cpu/map.h"

namespace assay::cpu {
namespace {

/// Converts X to Y with one rounding. Map widens 16-bit floats to f32 before the call.
template <class Y>
struct CastTo {
  template <class X>
  Y operator()(X x) const {
    if constexpr (!is_narrow_float<Y>) {
      return static_cast<Y>(x);
    } else if constexpr (sizeof(X) == 8) {
      return Y(rounded_to_odd(x));
    } else if constexpr (std::is_integral_v<X> && sizeof(X) == 4) {
      return Y(rounded_to_odd(static_cast<double>(x)));
    } else {
      return Y(static_cast<float>(x));  // f32, and shorter integers, which fit into it
    }
  }
};

std::unique_ptr<Kernel> cast(const OpInstance& op, const Binding& binding) {
  const TensorSpec spec = op.signature.outputs[0];
  return visit_dtype(op.dtype(), [&]<class X>(std::type_identity<X>) {
    return visit_dtype(spec.dtype, [&]<class Y>(std::type_identity<Y>) -> std::unique_ptr<Kernel> {
      const auto* x = static_cast<const X*>(binding.inputs[0]);
      auto* y = static_cast<Y*>(binding.outputs[0]);
      return std::make_unique<FunctionKernel>(loop_text,
                                              [=] { map_rows<Y>(spec, CastTo<Y>{}, y, x); });
    });
  });
}

constexpr KernelRow rows[] = {
    {"cast", cast},
};

}  // namespace

std::span<const KernelRow> cast_kernels() { return rows; }

}  // namespace assay::cpu
