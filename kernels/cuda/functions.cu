#include "kernels/cuda/activations.cuh"
#include "kernels/cuda/map.cuh"

// CUDA's math library without its fast variants; what is published of its errors: op_functions.h.
namespace assay::cuda {
namespace {

struct Exponential {
  template <class T>
  __device__ T operator()(T x) const {
    return exp(x);
  }
};

struct Logarithm {
  template <class T>
  __device__ T operator()(T x) const {
    return log(x);
  }
};

struct HyperbolicTangent {
  template <class T>
  __device__ T operator()(T x) const {
    return tanh(x);
  }
};

struct Power {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return pow(a, b);
  }
};

constexpr KernelRow rows[] = {
    {"exp", map<Exponential, Floats, 1>},
    {"log", map<Logarithm, Floats, 1>},
    {"tanh", map<HyperbolicTangent, Floats, 1>},
    {"sigmoid", map<Logistic, Floats, 1>},
    {"gelu", map<Gelu, Floats, 1>},
    {"gelu_tanh", map<GeluTanh, Floats, 1>},
    {"pow", map<Power, Floats, 2>},
};

}  // namespace

std::span<const KernelRow> function_kernels() { return rows; }

}  // namespace assay::cuda
