#include "kernels/core/rounding.h"
#include "kernels/cuda/map.cuh"
#include "kernels/device/element_rows.h"

namespace assay::cuda {
namespace {

/// Computes 16-bit floats exactly up to one final rounding: a b + c is rounded to odd, and one more
/// rounding to at least two bits fewer equals one rounding of the exact value. It matters: the
/// product of two bf16 may lie midway between two results, and a far smaller c then decides.
///
/// Both formats have at most 11 of f32's 24 bits, exponents within f32's, and no bit below 2^-133,
/// where f32 has them to 2^-149. A value is exact if and only if its roundings down and up agree.
struct NarrowFusedMultiplyAdd {
  __device__ float operator()(float a, float b, float c) const {
    return rounded_to_odd(__fmaf_rz(a, b, c), __fmaf_rd(a, b, c) == __fmaf_ru(a, b, c));
  }
};

/// Multiplies by a factor that each launch reads from the device's memory.
template <class S>
struct Scale {
  struct By {
    Computed<S> factor;
    __device__ Computed<S> operator()(Computed<S> x) const { return Multiply{}(x, factor); }
  };
  const S* factor;
  __device__ By prepared() const { return {widened(*factor)}; }
};

/// Keeps between two ends, which each launch reads likewise.
template <class S>
struct ClampBetween {
  struct Ends {
    Computed<S> low;
    Computed<S> high;
    __device__ Computed<S> operator()(Computed<S> x) const { return Clamp{}(x, low, high); }
  };
  const S* low;
  const S* high;
  __device__ Ends prepared() const { return {widened(*low), widened(*high)}; }
};

struct ElementwiseKernels : Mapped<Mapper> {
  static std::unique_ptr<Kernel> fma(const OpInstance& op, const Binding& binding) {
    return is_floating(op.format) && size_bytes(op.dtype()) == 2
               ? map<NarrowFusedMultiplyAdd, TypeList<BFloat16, Float16>, 3>(op, binding)
               : map<FusedMultiplyAdd, TypeList<double, float>, 3>(op, binding);
  }

  static std::unique_ptr<Kernel> scale(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
      const Scale<Stored<T>> by{input<T>(binding, 1)};
      return Mapper::kernel_of<Stored<T>>(by, op, binding, input<T>(binding, 0));
    });
  }

  static std::unique_ptr<Kernel> clamp(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
      const ClampBetween<Stored<T>> between{input<T>(binding, 1), input<T>(binding, 2)};
      return Mapper::kernel_of<Stored<T>>(between, op, binding, input<T>(binding, 0));
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
