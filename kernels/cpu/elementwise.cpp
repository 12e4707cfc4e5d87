#include <bit>
#include <cmath>
#include <type_traits>

#include "kernels/core/rounding.h"
#include "kernels/cpu/map.h"
#include "kernels/device/element_rows.h"

namespace assay::cpu {
namespace {

/// fma for f16. f32 holds its products exactly. The error of the sum with c is kept as one odd bit.
/// It matters: a product may lie midway between two results, and a far smaller c then decides.
struct Float16FusedMultiplyAdd {
  float operator()(float a, float b, float c) const { return sum_rounded_to_odd(a * b, c); }
};

/// fma for bf16, by fma in f32, which has no intermediate product beyond the range. A second
/// rounding errs only if the first one made a tie between two bf16. Products have 16 bits and c has
/// 8: then the product alone is the tie, and a far smaller c decides. So both differences are
/// exact.
struct BFloat16FusedMultiplyAdd {
  float operator()(float a, float b, float c) const {
    const float sum = std::fma(a, b, c);
    const float rest = std::fma(a, b, -sum) + c;
    const auto bits = std::bit_cast<std::uint32_t>(sum);
    const float of_tie = (bits << 16U) == 0x80000000U ? rest : 0.0F;
    const auto outwards =  // above 0 if the exact sum is farther from 0
        std::bit_cast<float>(std::bit_cast<std::uint32_t>(of_tie) ^ (bits & 0x80000000U));
    return std::bit_cast<float>(bits + (outwards > 0 ? 1U : 0U) - (outwards < 0 ? 1U : 0U));
  }
};

struct ElementwiseKernels : Mapped<Mapper> {
  static std::unique_ptr<Kernel> fma(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
      using Narrow = std::conditional_t<std::is_same_v<T, BFloat16>, BFloat16FusedMultiplyAdd,
                                        Float16FusedMultiplyAdd>;
      using F = std::conditional_t<is_narrow_float<T>, Narrow, FusedMultiplyAdd>;
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

  /// y[i] = x[i] between two ends, which each launch reads likewise.
  static std::unique_ptr<Kernel> clamp(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
      const T* x = Mapper::input<T>(binding, 0);
      const T* from = Mapper::input<T>(binding, 1);
      const T* to = Mapper::input<T>(binding, 2);
      auto* y = static_cast<T*>(binding.outputs[0]);
      return std::make_unique<FunctionKernel>(loop_text, [=, spec = op.signature.outputs[0]] {
        const Computed<T> low = widened(*from);
        const Computed<T> high = widened(*to);
        map_rows<T>(
            spec, [low, high](Computed<T> element) { return Clamp{}(element, low, high); }, y, x);
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
