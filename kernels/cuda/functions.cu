#include "kernels/cuda/activations.cuh"
#include "kernels/cuda/map.cuh"
#include "kernels/device/element_rows.h"

// CUDA's math library without fast variants. Published errors: kernels/ops/function_errors.
namespace assay::cuda {
namespace {

struct Functions {
  struct Exp {
    template <class T>
    __device__ T operator()(T x) const {
      return exp(x);
    }
  };
  struct Log {
    template <class T>
    __device__ T operator()(T x) const {
      return log(x);
    }
  };
  struct Tanh {
    template <class T>
    __device__ T operator()(T x) const {
      return tanh(x);
    }
  };
  struct Pow {
    template <class T>
    __device__ T operator()(T a, T b) const {
      return pow(a, b);
    }
  };
  using Logistic = cuda::Logistic;
  using Gelu = cuda::Gelu;
  using GeluTanh = cuda::GeluTanh;
};

}  // namespace

std::span<const KernelRow> functions_kernels() { return function_rows<Mapper, Functions>; }

}  // namespace assay::cuda
