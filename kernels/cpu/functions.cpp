#include <cmath>
#include <numbers>

#include "kernels/cpu/map.h"
#include "kernels/cpu/vector_math.h"

namespace assay::cpu {
namespace {

struct Exponential {
  static constexpr auto implementation = "libmvec exp";
  template <class T>
  T operator()(T x) const {
    return vector_exp(x);
  }
};

struct Logarithm {
  static constexpr auto implementation = "libmvec log";
  template <class T>
  T operator()(T x) const {
    return vector_log(x);
  }
};

struct HyperbolicTangent {
  static constexpr auto implementation = "libmvec tanh";
  template <class T>
  T operator()(T x) const {
    return vector_tanh(x);
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

struct Power {
  static constexpr auto implementation = "libmvec pow";
  template <class T>
  T operator()(T a, T b) const {
    return vector_pow(a, b);
  }
};

constexpr KernelRow rows[] = {
    {"exp", map<Exponential, Floats, 1>},   {"log", map<Logarithm, Floats, 1>},
    {"tanh", map<HyperbolicTangent, Floats, 1>}, {"sigmoid", map<Logistic, Floats, 1>},
    {"gelu", map<Gelu, Floats, 1>},         {"gelu_tanh", map<GeluTanh, Floats, 1>},
    {"pow", map<Power, Floats, 2>},
};

}  // namespace

std::span<const KernelRow> function_kernels() { return rows; }

}  // namespace assay::cpu
