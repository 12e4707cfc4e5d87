#pragma once

#include <thrust/copy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "kernels/libraries/library.h"

// Thrust's algorithms as its documentation shows them, on one of its systems: `System::policy` is
// an execution policy for a stream.

#ifdef __CUDACC__
#define ASSAY_ANYWHERE __host__ __device__
#else
#define ASSAY_ANYWHERE
#endif

namespace assay::libraries {

/// The call on a GPU, by Thrust's CUDA system.
Made by_cuda(const Problem& problem);

struct Square {
  template <class T>
  ASSAY_ANYWHERE T operator()(T x) const {
    return static_cast<T>(x * x);
  }
};
struct Absolute {
  template <class T>
  ASSAY_ANYWHERE T operator()(T x) const {
    return static_cast<T>(std::abs(x));
  }
};
struct Power {
  template <class T>
  ASSAY_ANYWHERE T operator()(T a, T b) const {
    return std::pow(a, b);
  }
};
struct Root {
  template <class T>
  ASSAY_ANYWHERE T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct Relu {
  template <class T>
  ASSAY_ANYWHERE T operator()(T x) const {
    return x < 0 ? T{0} : x;
  }
};
struct Exponential {
  template <class T>
  ASSAY_ANYWHERE T operator()(T x) const {
    return std::exp(x);
  }
};
struct Logarithm {
  template <class T>
  ASSAY_ANYWHERE T operator()(T x) const {
    return std::log(x);
  }
};
struct HyperbolicTangent {
  template <class T>
  ASSAY_ANYWHERE T operator()(T x) const {
    return std::tanh(x);
  }
};

/// Line of an index.
struct LineOf {
  std::int64_t length;
  ASSAY_ANYWHERE std::int64_t operator()(std::int64_t i) const { return i / length; }
};
/// Place in the matrix of one in the transposed matrix.
struct PlaceBefore {
  std::int64_t rows;
  std::int64_t columns;
  ASSAY_ANYWHERE std::int64_t operator()(std::int64_t i) const {
    return i % rows * columns + i / rows;
  }
};
/// Place in the table of one in the gathered rows.
struct PlaceInTable {
  const std::int64_t* index;
  std::int64_t columns;
  ASSAY_ANYWHERE std::int64_t operator()(std::int64_t i) const {
    return index[i / columns] * columns + i % columns;
  }
};

template <class T>
const T* in(const void* const* inputs, std::size_t i) {
  return static_cast<const T*>(inputs[i]);
}
template <class T>
T* out(void* const* outputs) {
  return static_cast<T*>(outputs[0]);
}

template <class System, class T>
class ThrustOps {
  using Inputs = const void* const*;
  using Outputs = void* const*;

  /// Makes a launch of `call`, which gets the policy and the addresses.
  template <class Call>
  static Made by_thrust(const char* algorithm, Call call) {
    return {[call](Inputs inputs, Outputs outputs, void* stream) {
              call(System::policy(stream), inputs, outputs);
            },
            algorithm};
  }
  /// Stores a result that Thrust has given to the host.
  template <class Policy, class Y>
  static void leave(const Policy& policy, Outputs outputs, Y result) {
    thrust::fill_n(policy, out<Y>(outputs), 1, result);
  }

 public:
  template <class F>
  static Made unary(const Problem& p, F f) {
    return by_thrust("transform", [f, n = elements(p.output())](auto policy, Inputs x, Outputs y) {
      thrust::transform(policy, in<T>(x, 0), in<T>(x, 0) + n, out<T>(y), f);
    });
  }
  template <class Y = T, class F>
  static Made binary(const Problem& p, F f) {
    return by_thrust("transform", [f, n = elements(p.output())](auto policy, Inputs x, Outputs y) {
      thrust::transform(policy, in<T>(x, 0), in<T>(x, 0) + n, in<T>(x, 1), out<Y>(y), f);
    });
  }
  static Made copy(const Problem& p) {
    return by_thrust("copy", [n = elements(p.output())](auto policy, Inputs x, Outputs y) {
      thrust::copy(policy, in<T>(x, 0), in<T>(x, 0) + n, out<T>(y));
    });
  }
  template <class F>
  static Made reduce(const Problem& p, T first, F f) {
    return by_thrust("reduce", [=, n = elements(p.input(0))](auto policy, Inputs x, Outputs y) {
      leave(policy, y, thrust::reduce(policy, in<T>(x, 0), in<T>(x, 0) + n, first, f));
    });
  }
  /// The least or greatest, or its place.
  template <bool greatest, bool is_place>
  static Made extreme(const Problem& p) {
    return by_thrust(greatest ? "max_element" : "min_element",
                     [n = elements(p.input(0))](auto policy, Inputs x, Outputs y) {
                       const T* const begin = in<T>(x, 0);
                       const T* found = nullptr;
                       if constexpr (greatest) {
                         found = thrust::max_element(policy, begin, begin + n);
                       } else {
                         found = thrust::min_element(policy, begin, begin + n);
                       }
                       if constexpr (is_place) {
                         leave(policy, y, std::int64_t{found - begin});
                       } else {
                         thrust::copy(policy, found, found + 1, out<T>(y));
                       }
                     });
  }
  static Made dot(const Problem& p) {
    return by_thrust("inner_product", [n = elements(p.input(0))](auto policy, Inputs x, Outputs y) {
      leave(policy, y,
            thrust::inner_product(policy, in<T>(x, 0), in<T>(x, 0) + n, in<T>(x, 1), T{0}));
    });
  }
  static Made norm2(const Problem& p) {
    return by_thrust(
        "transform_reduce", [n = elements(p.input(0))](auto policy, Inputs x, Outputs y) {
          leave(policy, y,
                std::sqrt(thrust::transform_reduce(policy, in<T>(x, 0), in<T>(x, 0) + n, Square{},
                                                   T{0}, thrust::plus<T>{})));
        });
  }
  static Made scan(const Problem& p) {
    return by_thrust("inclusive_scan",
                     [n = elements(p.output())](auto policy, Inputs x, Outputs y) {
                       thrust::inclusive_scan(policy, in<T>(x, 0), in<T>(x, 0) + n, out<T>(y));
                     });
  }
  static auto lines(const Problem& p) {
    const Shape& shape = p.input(0);
    if (shape[2] != 1) throw NotMine("its keys are those of rows");
    return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                           LineOf{shape[1]});
  }
  static Made scan_axis(const Problem& p) {
    return by_thrust("inclusive_scan_by_key", [n = elements(p.output()), keys = lines(p)](
                                                  auto policy, Inputs x, Outputs y) {
      thrust::inclusive_scan_by_key(policy, keys, keys + n, in<T>(x, 0), out<T>(y));
    });
  }
  template <class F>
  static Made reduce_axis(const Problem& p, F f) {
    return by_thrust("reduce_by_key", [f, n = elements(p.input(0)), keys = lines(p)](
                                          auto policy, Inputs x, Outputs y) {
      thrust::reduce_by_key(policy, keys, keys + n, in<T>(x, 0), thrust::make_discard_iterator(),
                            out<T>(y), thrust::equal_to<std::int64_t>{}, f);
    });
  }
  static Made sort(const Problem& p) {
    return by_thrust("copy, sort", [n = elements(p.output())](auto policy, Inputs x, Outputs y) {
      thrust::copy(policy, in<T>(x, 0), in<T>(x, 0) + n, out<T>(y));
      thrust::sort(policy, out<T>(y), out<T>(y) + n);
    });
  }
  static Made transpose(const Problem& p) {
    const Shape& shape = p.input(0);
    return by_thrust("gather", [n = elements(shape), rows = shape[0], columns = shape[1]](
                                   auto policy, Inputs x, Outputs y) {
      const auto places = thrust::make_transform_iterator(
          thrust::counting_iterator<std::int64_t>(0), PlaceBefore{rows, columns});
      thrust::gather(policy, places, places + n, in<T>(x, 0), out<T>(y));
    });
  }
  static Made gather(const Problem& p) {
    return by_thrust("gather", [n = elements(p.output()), columns = p.input(0)[1]](
                                   auto policy, Inputs x, Outputs y) {
      const auto places =
          thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                          PlaceInTable{in<std::int64_t>(x, 1), columns});
      thrust::gather(policy, places, places + n, in<T>(x, 0), out<T>(y));
    });
  }

  /// The call for an op of a type that it has.
  static Made of(const Problem& p) {
    using std::string_view;
    const string_view op = p.op();
    constexpr bool is_floating = std::is_floating_point_v<T>;
    if (op == "copy") return copy(p);
    if (op == "add") return binary(p, thrust::plus<T>{});
    if (op == "sub") return binary(p, thrust::minus<T>{});
    if (op == "mul") return binary(p, thrust::multiplies<T>{});
    if (op == "min") return binary(p, thrust::minimum<T>{});
    if (op == "max") return binary(p, thrust::maximum<T>{});
    if (op == "less") return binary<std::uint8_t>(p, thrust::less<T>{});
    if (op == "equal") return binary<std::uint8_t>(p, thrust::equal_to<T>{});
    if (op == "square") return unary(p, Square{});
    if (op == "reduce_min") return extreme<false, false>(p);
    if (op == "reduce_max") return extreme<true, false>(p);
    if (op == "argmin") return extreme<false, true>(p);
    if (op == "argmax") return extreme<true, true>(p);
    if (op == "sum") return reduce(p, T{0}, thrust::plus<T>{});
    if (op == "prod") return reduce(p, T{1}, thrust::multiplies<T>{});
    if (op == "sum_axis") return reduce_axis(p, thrust::plus<T>{});
    if (op == "reduce_max_axis") return reduce_axis(p, thrust::maximum<T>{});
    if (op == "scan") return scan(p);
    if (op == "scan_axis") return scan_axis(p);
    if (op == "sort") return sort(p);
    if (op == "transpose") return transpose(p);
    if (op == "gather") return gather(p);
    if (op == "neg") return unary(p, thrust::negate<T>{});
    if (op == "abs") return unary(p, Absolute{});
    if constexpr (is_floating) {
      if (op == "div") return binary(p, thrust::divides<T>{});
      if (op == "pow") return binary(p, Power{});
      if (op == "sqrt") return unary(p, Root{});
      if (op == "relu") return unary(p, Relu{});
      if (op == "exp") return unary(p, Exponential{});
      if (op == "log") return unary(p, Logarithm{});
      if (op == "tanh") return unary(p, HyperbolicTangent{});
      if (op == "dot") return dot(p);
      if (op == "norm2") return norm2(p);
    }
    throw NotMine("there is no such call");
  }
};

/// The call on a system.
template <class System>
Made by_type(const Problem& p) {
  if (p.dtype() == "f64") return ThrustOps<System, double>::of(p);
  if (p.dtype() == "f32") return ThrustOps<System, float>::of(p);
  if (p.dtype() == "i64") return ThrustOps<System, std::int64_t>::of(p);
  return ThrustOps<System, std::int32_t>::of(p);
}

}  // namespace assay::libraries
