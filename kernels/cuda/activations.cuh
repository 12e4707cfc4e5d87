#pragma once

#include "kernels/core/element_functions.h"

// Activation functions, used after layers and as ops of their own. They compute in the type of
// their argument: float or double.
namespace assay::cuda {

/// CUDA's math library, available on host and device.
struct Math {
  template <class T>
  static __host__ __device__ T exp(T x) {
    return ::exp(x);
  }
};

using Logistic = LogisticBy<Math>;
using GeluTanh = GeluTanhBy<Math>;

/// x/2 erfc(-x / sqrt 2): unlike 1 + erf, the negative tail does not cancel.
struct Gelu {
  template <class T>
  __device__ T operator()(T x) const {
    constexpr auto minus_inverse_root = static_cast<T>(-0.70710678118654752440);
    return x * T(0.5) * erfc(x * minus_inverse_root);
  }
};

}  // namespace assay::cuda
