#include "kernels/cuda/activations.cuh"
#include "kernels/cuda/map.cuh"

// Ops that choose among their operands.
namespace assay::cuda {
namespace {

/// A NaN in either operand is the result.
struct Minimum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    const T lesser = b < a ? b : a;
    if constexpr (std::is_integral_v<T>) {
      return lesser;
    } else {
      return b != b ? b : lesser;  // where a is NaN, b < a is false
    }
  }
};

struct Maximum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    const T greater = a < b ? b : a;
    if constexpr (std::is_integral_v<T>) {
      return greater;
    } else {
      return b != b ? b : greater;
    }
  }
};

struct Less {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a < b;
  }
};

struct Equal {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a == b;
  }
};

struct Choose {
  template <class T>
  __device__ T operator()(std::uint8_t mask, T a, T b) const {
    return mask != 0 ? a : b;
  }
};

/// A value that is read from the device's memory at each launch.
template <class S>
struct Constant {
  const S* value;
  __device__ S operator()() const { return *value; }
};

template <class F>
std::unique_ptr<Kernel> compare(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    return std::make_unique<FunctionKernel>(
        map_text(op), binding,
        [=, spec = op.signature.outputs[0], a = input<T>(binding, 0), b = input<T>(binding, 1),
         y = static_cast<std::uint8_t*>(binding.outputs[0])](cudaStream_t s) {
          map_rows(s, spec, F{}, y, a, b);
        });
  });
}

std::unique_ptr<Kernel> where(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    return std::make_unique<FunctionKernel>(
        map_text(op), binding,
        [=, spec = op.signature.outputs[0], mask = input<std::uint8_t>(binding, 0),
         a = input<T>(binding, 1), b = input<T>(binding, 2),
         y = output<T>(binding)](cudaStream_t s) { map_rows(s, spec, Choose{}, y, mask, a, b); });
  });
}

std::unique_ptr<Kernel> copy(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    return std::make_unique<FunctionKernel>(
        map_text(op), binding,
        [=, spec = op.signature.outputs[0], x = input<T>(binding, 0),
         y = output<T>(binding)](cudaStream_t s) { map_rows(s, spec, Identity{}, y, x); });
  });
}

std::unique_ptr<Kernel> fill(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    const Constant<T> constant{input<T>(binding, 0)};
    return std::make_unique<FunctionKernel>(
        map_text(op), binding,
        [=, spec = op.signature.outputs[0], y = output<T>(binding)](cudaStream_t s) {
          map_rows<T>(s, spec, constant, y);
        });
  });
}

constexpr KernelRow rows[] = {
    {"min", map<Minimum, Numbers, 2>},
    {"max", map<Maximum, Numbers, 2>},
    {"relu", map<Relu, Floats, 1>},
    {"less", compare<Less>},
    {"equal", compare<Equal>},
    {"where", where},
    {"copy", copy},
    {"fill", fill},
};

}  // namespace

std::span<const KernelRow> comparison_kernels() { return rows; }

}  // namespace assay::cuda
