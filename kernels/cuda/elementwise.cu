#include "kernels/core/rounding.h"
#include "kernels/cuda/map.cuh"
#include "kernels/device/element_rows.h"

namespace assay::cuda {
namespace {

/// Computes 16-bit floats exactly up to one final rounding. The product is exact in a double, and
/// the error of its sum with c is kept as one odd bit. It matters: the product of two bf16 may lie
/// midway between two results, and a far smaller c then decides.
struct NarrowFusedMultiplyAdd {
  __device__ float operator()(float a, float b, float c) const {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    return rounded_to_odd(sum_rounded_to_odd(product, static_cast<double>(c)));
  }
};

/// Multiplies by a factor that each launch reads from the device's memory.
template <class S>
struct Scale {
  const S* factor;
  template <class T>
  __device__ T operator()(T x) const {
    return Multiply{}(x, widened(*factor));
  }
};

/// Returns a value that each launch reads from the device's memory.
template <class S>
struct Constant {
  const S* value;
  __device__ S operator()() const { return *value; }
};

struct ElementwiseKernels : Mapped<Mapper> {
  static std::unique_ptr<Kernel> fma(const OpInstance& op, const Binding& binding) {
    return is_floating(op.dtype) && size_bytes(op.dtype) == 2
               ? map<NarrowFusedMultiplyAdd, TypeList<BFloat16, Float16>, 3>(op, binding)
               : map<FusedMultiplyAdd, TypeList<double, float>, 3>(op, binding);
  }

  static std::unique_ptr<Kernel> scale(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
      const Scale<Stored<T>> by{input<T>(binding, 1)};
      return Mapper::kernel_of<Stored<T>>(by, op, binding, input<T>(binding, 0));
    });
  }

  static std::unique_ptr<Kernel> fill(const OpInstance& op, const Binding& binding) {
    return for_size(op, [&]<class T>(std::type_identity<T>) {
      return Mapper::kernel_of<T>(Constant<T>{input<T>(binding, 0)}, op, binding);
    });
  }
};

}  // namespace

std::span<const KernelRow> elementwise_kernels() { return elementwise_rows<ElementwiseKernels>; }

}  // namespace assay::cuda
