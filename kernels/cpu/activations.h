#pragma once

#include <cmath>
#include <numbers>

#include "kernels/cpu/vector_math.h"

// The functions that stand behind layers, and are ops of their own.
namespace assay::cpu {

/// Written so that a NaN stays. oneDNN 2.6's own relu turns NaN into 0 and is not used.
struct Relu {
  static constexpr auto implementation = "OpenMP loop";
  static constexpr bool rounds = false;
  template <class T>
  T operator()(T x) const {
    return x <= 0 ? T{0} : x;
  }
};

/// With e = exp(-|x|), which never overflows, both tails keep their precision.
struct Logistic {
  static constexpr auto implementation = "libmvec exp";
  template <class T>
  T operator()(T x) const {
    const T e = vector_exp(-std::abs(x));
    return (x < 0 ? e : T{1}) / (1 + e);
  }
};

/// x/2 erfc(-x / sqrt 2): unlike 1 + erf, the negative tail does not cancel.
struct Gelu {
  static constexpr auto implementation = "libmvec erfc";
  template <class T>
  T operator()(T x) const {
    constexpr T minus_inverse_root = -std::numbers::sqrt2_v<T> / 2;
    return x * T(0.5) * vector_erfc(x * minus_inverse_root);
  }
};

/// (1 + tanh z) / 2 is the logistic of 2 z.
struct GeluTanh {
  static constexpr auto implementation = "libmvec exp";
  template <class T>
  T operator()(T x) const {
    constexpr auto slope = static_cast<T>(1.595769121605730711759);  // 2 sqrt(2 / pi)
    return x * Logistic{}(slope * (x + T(0.044715) * x * x * x));
  }
};

}  // namespace assay::cpu
