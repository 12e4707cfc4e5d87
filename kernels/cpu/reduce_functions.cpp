#include "kernels/cpu/reduce_functions.h"

#include <string>
#include <type_traits>

#include "kernels/core/element_functions.h"
#include "kernels/core/status.h"
#include "kernels/cpu/map.h"

namespace assay::cpu {
namespace {

// Integers wrap. Gloo's own functions use signed ones, whose overflow is undefined.
struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};

struct Product {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};

/// Returns NaN if either operand is: b because it differs from itself, a because no comparison with
/// it holds.
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return b < a || b != b ? b : a;
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return b > a || b != b ? b : a;
  }
};

template <class T>
struct DividedBy {
  Computed<T> divisor;
  Computed<T> operator()(Computed<T> x) const { return x / divisor; }
};

template <class T>
struct Times {
  Computed<T> factor;
  Computed<T> operator()(Computed<T> x) const {
    return static_cast<Computed<T>>(wrapping(x) * wrapping(factor));
  }
};

template <class F, class T>
void reduce(void* y, const void* a, const void* b, std::size_t n) {
  map_row<T>(F{}, static_cast<T*>(y), static_cast<std::int64_t>(n), static_cast<const T*>(a),
             static_cast<const T*>(b));
}

/// y = F{number}(y)
template <template <class> class F, class T>
void finish(void* y, std::size_t n, int number) {
  const F<T> by{static_cast<Computed<T>>(number)};
  map_row<T>(by, static_cast<T*>(y), static_cast<std::int64_t>(n), static_cast<const T*>(y));
}

/// Calls f(type_identity<T>{}) for the T that stores `dtype`.
template <class F>
auto for_number(DType dtype, const F& f) {
  return visit_computed(dtype, [&]<class T>(std::type_identity<T> type) {
    if constexpr (sizeof(T) == 1) {
      throw DeviceError(Failure::not_here, "cpu has no allreduce in " + std::string(name(dtype)));
      return f(std::type_identity<float>{});
    } else {
      return f(type);
    }
  });
}

}  // namespace

ReduceFunction reduce_function(std::string_view name, DType dtype) {
  return for_number(dtype, [&]<class T>(std::type_identity<T>) -> ReduceFunction {
    if (name == "sum" || name == "avg" || name == "premul_sum") return reduce<Sum, T>;
    if (name == "prod") return reduce<Product, T>;
    if (name == "min") return reduce<Minimum, T>;
    if (name == "max") return reduce<Maximum, T>;
    throw DeviceError(Failure::not_here, "cpu has no allreduce with " + std::string(name));
  });
}

FinishFunction divide_function(DType dtype) {
  return for_number(
      dtype, []<class T>(std::type_identity<T>) -> FinishFunction { return finish<DividedBy, T>; });
}

FinishFunction scale_function(DType dtype) {
  return for_number(
      dtype, []<class T>(std::type_identity<T>) -> FinishFunction { return finish<Times, T>; });
}

}  // namespace assay::cpu
