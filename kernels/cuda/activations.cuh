#pragma once

// The functions that stand behind layers, and are ops of their own. In the types that they are
// given: float and double.
namespace assay::cuda {

struct Identity {
  template <class T>
  __device__ T operator()(T x) const {
    return x;
  }
};

/// Written so that a NaN stays.
struct Relu {
  template <class T>
  __device__ T operator()(T x) const {
    return x <= 0 ? T{0} : x;
  }
};

/// With e = exp(-|x|), which never overflows, both tails keep their precision.
struct Logistic {
  template <class T>
  __device__ T operator()(T x) const {
    const T e = exp(-fabs(x));
    return (x < 0 ? e : T{1}) / (1 + e);
  }
};

/// x/2 erfc(-x / sqrt 2): unlike 1 + erf, the negative tail does not cancel.
struct Gelu {
  template <class T>
  __device__ T operator()(T x) const {
    constexpr auto minus_inverse_root = static_cast<T>(-0.70710678118654752440);
    return x * T(0.5) * erfc(x * minus_inverse_root);
  }
};

/// (1 + tanh z) / 2 is the logistic of 2 z.
struct GeluTanh {
  template <class T>
  __device__ T operator()(T x) const {
    constexpr auto slope = static_cast<T>(1.595769121605730711759);  // 2 sqrt(2 / pi)
    return x * Logistic{}(slope * (x + T(0.044715) * x * x * x));
  }
};

}  // namespace assay::cuda
