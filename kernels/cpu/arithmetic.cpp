#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/core/rounding.h"
#include "kernels/cpu/map.h"

namespace assay::cpu {
namespace {

constexpr const char* loop = "OpenMP loop";

/// Integers wrap: their arithmetic is that of unsigned numbers.
template <class T>
auto wrapping(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(x);
  } else {
    return x;
  }
}

struct Add {
  static constexpr auto implementation = loop;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};

struct Subtract {
  static constexpr auto implementation = loop;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) - wrapping(b));
  }
};

struct Multiply {
  static constexpr auto implementation = loop;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};

struct Divide {
  static constexpr auto implementation = loop;
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

struct Square {
  static constexpr auto implementation = loop;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(wrapping(x) * wrapping(x));
  }
};

struct Negate {
  static constexpr auto implementation = loop;
  static constexpr bool rounds = false;
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(0 - wrapping(x));
    } else {
      return -x;
    }
  }
};

struct Absolute {
  static constexpr auto implementation = loop;
  static constexpr bool rounds = false;
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x < 0 ? 0 - wrapping(x) : wrapping(x));
    } else {
      return std::abs(x);
    }
  }
};

struct SquareRoot {
  static constexpr auto implementation = loop;
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};

struct FusedMultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};

/// Of 16-bit floats in f32, which holds their products exactly, but for bf16 beyond its range. What
/// the sum with c misses stays as one odd bit: a product may lie in the middle between two results,
/// from which a far smaller c moves it.
struct NarrowFusedMultiplyAdd {
  float operator()(float a, float b, float c) const {
    constexpr float most = std::numeric_limits<float>::max();
    const float product = a * b;
    // Beyond the range c may bring the sum back; one that matters then does not underflow.
    const bool overflows = std::abs(product) > most && std::abs(a) <= most && std::abs(b) <= most;
    const float down = overflows ? 0x1p-64F : 1.0F;  // of each factor, whose product is at least 1
    const float up = overflows ? 0x1p64F : 1.0F;
    const float sum = sum_rounded_to_odd((a * down) * (b * down), c * down * down) * up * up;
    // Below the range the product has lost bits that no result has, but with c = 0 its sign is all.
    return c == 0 && a != 0 && b != 0 ? product : sum;
  }
};

std::unique_ptr<Kernel> fused_multiply_add(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    using F = std::conditional_t<is_narrow_float<T>, NarrowFusedMultiplyAdd, FusedMultiplyAdd>;
    const auto* a = static_cast<const T*>(binding.inputs[0]);
    const auto* b = static_cast<const T*>(binding.inputs[1]);
    const auto* c = static_cast<const T*>(binding.inputs[2]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    return std::make_unique<FunctionKernel>(
        loop, [=, spec = op.signature.outputs[0]] { map_rows<T>(spec, F{}, y, a, b, c); });
  });
}

/// y[i] = x[i] a, with a read from the device's memory at each launch.
std::unique_ptr<Kernel> scale(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    const auto* factor = static_cast<const T*>(binding.inputs[1]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    return std::make_unique<FunctionKernel>(
        Multiply::implementation, [=, spec = op.signature.outputs[0]] {
          const Computed<T> a = widened(*factor);
          map_rows<T>(
              spec, [a](Computed<T> element) { return Multiply{}(element, a); }, y, x);
        });
  });
}

constexpr KernelRow rows[] = {
    {"add", map<Add, Numbers, 2>},
    {"sub", map<Subtract, Numbers, 2>},
    {"mul", map<Multiply, Numbers, 2>},
    {"div", map<Divide, Floats, 2>},
    {"square", map<Square, Numbers, 1>},
    {"neg", map<Negate, SignedNumbers, 1>},
    {"abs", map<Absolute, SignedNumbers, 1>},
    {"sqrt", map<SquareRoot, Floats, 1>},
    {"fma", fused_multiply_add},
    {"scale", scale},
};

}  // namespace

std::span<const KernelRow> arithmetic_kernels() { return rows; }

}  // namespace assay::cpu
