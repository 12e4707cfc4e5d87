#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/core/worth_a_fork.h"
#include "kernels/reference/rounding.h"

namespace assay::reference {

/// Sum of a_i b_i = value + rest, and the sum of |a_i b_i|.
struct Dot {
  double value = 0;
  double rest = 0;
  double magnitude = 0;

  long double total() const { return static_cast<long double>(value) + rest; }
};

/// Multiplies `a` with each of the `dots.size()` rows of `b`. For elements of at most 26 bits (f32
/// and narrower), whose products are exact. Errs by at most n 2^-53 of the magnitude, 2^-29 of the
/// bound of sums kept in f32. Integers below 2^53 are exact.
void plain_dots(const double* a, const double* b, std::size_t n, std::span<Dot> dots);

/// Handles any doubles. Errs by n 2^-104 of the magnitude, and by n 2^-1075. Algorithm Dot2 of
/// Ogita, Rump, Oishi: "Accurate sum and dot product", SIAM J. Sci. Comput. 26(6), 2005, in several
/// lanes. By FMA: halves of factors, as of Dekker, err by units of subnormal products.
void precise_dots(const double* a, const double* b, std::size_t n, std::span<Dot> dots);

/// Selects the algorithm that elements of T need.
template <class T>
void dots(const double* a, const double* b, std::size_t n, std::span<Dot> dots) {
  std::is_same_v<T, double> ? precise_dots(a, b, n, dots) : plain_dots(a, b, n, dots);
}

/// Rows of `b` for one call. Four chains of additions keep a processor busy, and the rows stay in
/// its second cache while many `a` pass.
inline constexpr std::int64_t dots_at_once = 4;

/// Calls `f(row, col, dot)` with a[row] b[col] for all rows of two matrices, on all threads.
template <class T, class F>
void for_each_dot(const std::vector<double>& a, const std::vector<double>& b, std::size_t n,
                  const F& f) {
  const std::int64_t rows = std::ssize(a) / static_cast<std::int64_t>(n);
  const std::int64_t cols = std::ssize(b) / static_cast<std::int64_t>(n);
  const std::int64_t work = rows * cols * static_cast<std::int64_t>(n);
  const std::int64_t bands = (cols + dots_at_once - 1) / dots_at_once;
#pragma omp parallel for collapse(2) schedule(static) if (work > worth_a_fork())
  for (std::int64_t band = 0; band < bands; ++band) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t first = band * dots_at_once;
      const std::int64_t count = std::min(dots_at_once, cols - first);
      std::array<Dot, dots_at_once> found;
      dots<T>(&a[static_cast<std::size_t>(row) * n], &b[static_cast<std::size_t>(first) * n], n,
              std::span(found).first(static_cast<std::size_t>(count)));
      for (std::int64_t i = 0; i < count; ++i)
        f(row, first + i, found.at(static_cast<std::size_t>(i)));
    }
  }
}

/// Propagates errors E of h through a sum of w h: sum |w| E, and S = sum |w| (|h| + E).
struct ErrorDot {
  double from_inputs = 0;
  double magnitude = 0;
};
ErrorDot error_dot(const double* w, const double* h, const double* error, std::size_t n);

template <class T>
std::vector<double> widened(std::span<const T> elements) {
  std::vector<double> wider(elements.size());
  std::ranges::transform(elements, wider.begin(), [](T element) { return wide(element); });
  return wider;
}

}  // namespace assay::reference
