#include "kernels/cpu/activations.h"
#include "kernels/cpu/map.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/device/element_rows.h"

namespace assay::cpu {
namespace {

struct Functions {
  struct Exp {
    static constexpr auto implementation = "libmvec exp";
    template <class T>
    T operator()(T x) const {
      return vector_exp(x);
    }
  };
  struct Log {
    static constexpr auto implementation = "libmvec log";
    template <class T>
    T operator()(T x) const {
      return vector_log(x);
    }
  };
  struct Tanh {
    static constexpr auto implementation = "libmvec tanh";
    template <class T>
    T operator()(T x) const {
      return vector_tanh(x);
    }
  };
  struct Pow {
    static constexpr auto implementation = "libmvec pow";
    template <class T>
    T operator()(T a, T b) const {
      return vector_pow(a, b);
    }
  };
  using Logistic = cpu::Logistic;
  using Gelu = cpu::Gelu;
  using GeluTanh = cpu::GeluTanh;
};

}  // namespace

std::span<const KernelRow> functions_kernels() { return function_rows<Mapper, Functions>; }

}  // namespace assay::cpu
