#include "kernels/core/rounding.h"
#include "kernels/cuda/map.cuh"

namespace assay::cuda {
namespace {

/// Integers wrap: their arithmetic is that of unsigned numbers.
template <class T>
__device__ auto wrapping(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(x);
  } else {
    return x;
  }
}

struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};

struct Subtract {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) - wrapping(b));
  }
};

struct Multiply {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};

struct Divide {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a / b;
  }
};

struct Square {
  template <class T>
  __device__ T operator()(T x) const {
    return Multiply{}(x, x);
  }
};

struct Negate {
  template <class T>
  __device__ T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(0 - wrapping(x));
    } else {
      return -x;
    }
  }
};

struct Absolute {
  template <class T>
  __device__ T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x < 0 ? 0 - wrapping(x) : wrapping(x));
    } else {
      return fabs(x);
    }
  }
};

struct SquareRoot {
  template <class T>
  __device__ T operator()(T x) const {
    return sqrt(x);
  }
};

struct FusedMultiplyAdd {
  template <class T>
  __device__ T operator()(T a, T b, T c) const {
    return fma(a, b, c);
  }
};

/// Of 16-bit floats in f32: the product is exact in a double, and what the sum of it and c misses
/// stays as one odd bit: the product of two bf16 may lie in the middle between two results, from
/// which a far smaller c moves it.
struct NarrowFusedMultiplyAdd {
  __device__ float operator()(float a, float b, float c) const {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    return rounded_to_odd(sum_rounded_to_odd(product, static_cast<double>(c)));
  }
};

std::unique_ptr<Kernel> fused_multiply_add(const OpInstance& op, const Binding& binding) {
  return is_floating(op.dtype) && size_bytes(op.dtype) == 2
             ? map<NarrowFusedMultiplyAdd, TypeList<BFloat16, Float16>, 3>(op, binding)
             : map<FusedMultiplyAdd, TypeList<double, float>, 3>(op, binding);
}

/// By a factor that is read from the device's memory at each launch.
template <class S>
struct Scale {
  const S* factor;
  template <class T>
  __device__ T operator()(T x) const {
    return Multiply{}(x, widened(*factor));
  }
};

std::unique_ptr<Kernel> scale(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const Scale<Stored<T>> by{input<T>(binding, 1)};
    return std::make_unique<FunctionKernel>(
        map_text(op), binding,
        [=, spec = op.signature.outputs[0], x = input<T>(binding, 0),
         y = output<T>(binding)](cudaStream_t s) { map_rows(s, spec, by, y, x); });
  });
}

constexpr KernelRow rows[] = {
    {"add", map<Add, Numbers, 2>},
    {"sub", map<Subtract, Numbers, 2>},
    {"mul", map<Multiply, Numbers, 2>},
    {"div", map<Divide, Floats, 2>},
    {"square", map<Square, Numbers, 1>},
    {"neg", map<Negate, SignedNumbers, 1>},
    {"abs", map<Absolute, SignedNumbers, 1>},
    {"sqrt", map<SquareRoot, Floats, 1>},
    {"fma", fused_multiply_add},
    {"scale", scale},
};

}  // namespace

std::span<const KernelRow> arithmetic_kernels() { return rows; }

}  // namespace assay::cuda
