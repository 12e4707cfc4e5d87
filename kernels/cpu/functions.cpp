#include "kernels/cpu/activations.h"
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

struct Power {
  static constexpr auto implementation = "libmvec pow";
  template <class T>
  T operator()(T a, T b) const {
    return vector_pow(a, b);
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

}  // namespace assay::cpu
