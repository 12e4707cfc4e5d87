#pragma once

#include <limits>

#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/storage_types.cuh"

namespace assay::cuda {

/// Sum of e^(x - greatest) of some numbers. An infinite one is not subtracted: infinity less itself
/// would be NaN. A NaN may or may not be the greatest. Either way it reaches the sum.
template <class A>
struct Exponentials {
  A greatest;
  A sum;

  static __device__ A shift_of(A greatest) { return isinf(greatest) ? A(0) : greatest; }
  __device__ A shifted_by(A shift) const { return sum * exp(greatest - shift); }

  static __device__ Exponentials of(A x) { return {x, exp(x - shift_of(x))}; }
  __device__ Exponentials operator+(const Exponentials& other) const {
    const A both = greatest > other.greatest ? greatest : other.greatest;
    const A shift = shift_of(both);
    return {both, shifted_by(shift) + other.shifted_by(shift)};
  }
  /// Adds four numbers, by five exponentials.
  __device__ Exponentials with(A a, A b, A c, A d) const {
    const auto greater = [](A one, A other) { return one > other ? one : other; };
    const A all = greater(greater(greater(a, b), greater(c, d)), greatest);
    const A shift = shift_of(all);
    return {all, shifted_by(shift) +
                     ((exp(a - shift) + exp(b - shift)) + (exp(c - shift) + exp(d - shift)))};
  }
};

/// Reduces numbers to their exponentials.
struct SumOfExponentials : Sum {
  template <class S>
  using Partial = Exponentials<Computed<S>>;
  template <class S>
  static __device__ Partial<S> nothing() {
    return {-std::numeric_limits<Computed<S>>::infinity(), 0};
  }
  template <class P, class S>
  static __device__ P of_elements(unsigned /*tile*/, S x) {
    return P::of(widened(x));
  }
  /// Joins four elements, each of which is its own greatest.
  template <class P>
  static __device__ P with(P before, P a, P b, P c, P d) {
    return before.with(a.greatest, b.greatest, c.greatest, d.greatest);
  }
};

}  // namespace assay::cuda
