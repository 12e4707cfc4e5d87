#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/reference/rounding.h"

namespace assay::reference {

/// sum of a_i b_i = value + rest, and the sum of |a_i b_i|.
struct Dot {
  double value = 0;
  double rest = 0;
  double magnitude = 0;

  long double total() const { return static_cast<long double>(value) + rest; }
};

/// For a_i, b_i of at most 26 bits (f32 and narrower), whose products are exact: errs by at most
/// n 2^-53 of the magnitude, 2^-29 of the bound of sums kept in f32.
Dot plain_dot(const double* a, const double* b, std::size_t n);

/// For any doubles: errs by n 2^-104 of the magnitude. Algorithm Dot2 of Ogita, Rump, Oishi:
/// "Accurate sum and dot product", SIAM J. Sci. Comput. 26(6), 2005, in several lanes.
Dot precise_dot(const double* a, const double* b, std::size_t n);

/// The one of the two that elements of T need.
template <class T>
Dot dot(const double* a, const double* b, std::size_t n) {
  return std::is_same_v<T, double> ? precise_dot(a, b, n) : plain_dot(a, b, n);
}

template <class T>
std::vector<double> widened(std::span<const T> elements) {
  std::vector<double> wider;
  wider.reserve(elements.size());
  for (const T element : elements) wider.push_back(wide(element));
  return wider;
}

}  // namespace assay::reference
