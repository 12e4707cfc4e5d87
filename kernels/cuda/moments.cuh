#pragma once

namespace assay::cuda {

/// Mean of some numbers, and their squared differences to it, which do not cancel. Chan, Golub,
/// LeVeque: "Algorithms for computing the sample variance", The American Statistician 37(3), 1983,
/// (1.5).
template <class C>
struct Moments {
  C count = 0;
  C mean = 0;
  C squares = 0;

  /// Returns the other side where one is empty: the formula would multiply the square of a mean,
  /// which may be infinite, by zero.
  __device__ Moments operator+(const Moments& other) const {
    if (other.count == 0) return *this;
    if (count == 0) return other;
    const C both = count + other.count;
    const C distance = other.mean - mean;
    const C part = other.count / both;
    return {both, mean + distance * part,
            squares + other.squares + distance * distance * count * part};
  }
};

}  // namespace assay::cuda
