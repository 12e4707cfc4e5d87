#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/core/rounding.h"
#include "kernels/cpu/map.h"
#include "kernels/device/element_rows.h"

namespace assay::cpu {
namespace {

/// Computes 16-bit floats in f32, which holds their products exactly, except for bf16 products
/// beyond its range. The error of the sum with c is kept as one odd bit. It matters: a product may
/// lie midway between two results, and a far smaller c then decides.
struct NarrowFusedMultiplyAdd {
  float operator()(float a, float b, float c) const {
    constexpr float most = std::numeric_limits<float>::max();
    const float product = a * b;
    // Beyond the range, c may bring the sum back. A c large enough for that does not underflow.
    const bool overflows = std::abs(product) > most && std::abs(a) <= most && std::abs(b) <= most;
    const float down = overflows ? 0x1p-64F : 1.0F;  // for each factor; their product is at least 1
    const float up = overflows ? 0x1p64F : 1.0F;
    const float sum = sum_rounded_to_odd((a * down) * (b * down), c * down * down) * up * up;
    // Below the range the product has lost bits below any result's. With c = 0 only its sign
    // matters.
    return c == 0 && a != 0 && b != 0 ? product : sum;
  }
};

struct ElementwiseKernels : Mapped<Mapper> {
  static std::unique_ptr<Kernel> fma(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
      using F = std::conditional_t<is_narrow_float<T>, NarrowFusedMultiplyAdd, FusedMultiplyAdd>;
      return Mapper::kernel_of<T>(F{}, op, binding, Mapper::input<T>(binding, 0),
                                  Mapper::input<T>(binding, 1), Mapper::input<T>(binding, 2));
    });
  }

  /// y[i] = x[i] a. Each launch reads a from the device's memory.
  static std::unique_ptr<Kernel> scale(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
      const T* x = Mapper::input<T>(binding, 0);
      const T* factor = Mapper::input<T>(binding, 1);
      auto* y = static_cast<T*>(binding.outputs[0]);
      return std::make_unique<FunctionKernel>(loop_text, [=, spec = op.signature.outputs[0]] {
        const Computed<T> a = widened(*factor);
        map_rows<T>(
            spec, [a](Computed<T> element) { return Multiply{}(element, a); }, y, x);
      });
    });
  }

  static std::unique_ptr<Kernel> fill(const OpInstance& op, const Binding& binding) {
    return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
      const T* value = Mapper::input<T>(binding, 0);
      auto* y = static_cast<T*>(binding.outputs[0]);
      return std::make_unique<FunctionKernel>(loop_text, [=, spec = op.signature.outputs[0]] {
        map_rows<T>(
            spec, [element = *value] { return element; }, y);
      });
    });
  }
};

}  // namespace

std::span<const KernelRow> elementwise_kernels() { return elementwise_rows<ElementwiseKernels>; }

}  // namespace assay::cpu
