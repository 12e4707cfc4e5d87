#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/activations.h"
#include "kernels/cpu/map.h"

// Ops that choose among their operands.
namespace assay::cpu {
namespace {

constexpr const char* loop = "OpenMP loop";

/// A NaN in either operand is the result: a - b is NaN then, and nowhere else does a != a hold.
struct Minimum {
  static constexpr auto implementation = loop;
  static constexpr bool rounds = false;
  template <class T>
  T operator()(T a, T b) const {
    const T lesser = b < a ? b : a;
    if constexpr (std::is_integral_v<T>) {
      return lesser;
    } else {
      return b != b ? b : lesser;  // where a is NaN, b < a is false
    }
  }
};

struct Maximum {
  static constexpr auto implementation = loop;
  static constexpr bool rounds = false;
  template <class T>
  T operator()(T a, T b) const {
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
  bool operator()(T a, T b) const {
    return a < b;
  }
};

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};

template <class F>
std::unique_ptr<Kernel> compare(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* a = static_cast<const T*>(binding.inputs[0]);
    const auto* b = static_cast<const T*>(binding.inputs[1]);
    auto* y = static_cast<std::uint8_t*>(binding.outputs[0]);
    return std::make_unique<FunctionKernel>(
        loop, [=, spec = op.signature.outputs[0]] { map_rows<std::uint8_t>(spec, F{}, y, a, b); });
  });
}

std::unique_ptr<Kernel> where(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    const auto* mask = static_cast<const std::uint8_t*>(binding.inputs[0]);
    const auto* a = static_cast<const T*>(binding.inputs[1]);
    const auto* b = static_cast<const T*>(binding.inputs[2]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    return std::make_unique<FunctionKernel>(loop, [=, spec = op.signature.outputs[0]] {
      map_rows<T>(
          spec, [](std::uint8_t m, T x, T z) { return m != 0 ? x : z; }, y, mask, a, b);
    });
  });
}

std::unique_ptr<Kernel> copy(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    return std::make_unique<FunctionKernel>(
        loop, [=, spec = op.signature.outputs[0]] { map_rows<T>(spec, Identity{}, y, x); });
  });
}

std::unique_ptr<Kernel> fill(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    const auto* value = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    return std::make_unique<FunctionKernel>(loop, [=, spec = op.signature.outputs[0]] {
      map_rows<T>(
          spec, [element = *value] { return element; }, y);
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

}  // namespace assay::cpu
