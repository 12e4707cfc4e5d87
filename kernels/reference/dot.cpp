#include "kernels/reference/dot.h"

#include <array>

#include "kernels/reference/exact_sum.h"

// Also here one build serves every x86-64: see kernels/cpu/vectorize.h.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ASSAY_REFERENCE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ASSAY_REFERENCE_CLONES
#endif

namespace assay::reference {
namespace {

constexpr std::size_t lanes = 16;
using Lanes = std::array<double, lanes>;

/// a b = product + its rounding error, by splitting both into halves. Veltkamp, Dekker: Numer.
/// Math. 18, 1971; exact while nothing over- or underflows.
inline double product_error(double a, double b, double product) {
  constexpr double splitter = 0x1p27 + 1;
  const double wide_a = splitter * a;
  const double high_a = wide_a - (wide_a - a);
  const double low_a = a - high_a;
  const double wide_b = splitter * b;
  const double high_b = wide_b - (wide_b - b);
  const double low_b = b - high_b;
  return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b;
}

}  // namespace

ASSAY_REFERENCE_CLONES Dot plain_dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  double magnitude = 0;
#pragma omp simd reduction(+ : sum, magnitude)
  for (std::size_t i = 0; i < n; ++i) {
    const double product = a[i] * b[i];
    sum += product;
    magnitude += std::abs(product);
  }
  return {.value = sum, .magnitude = magnitude};
}

ASSAY_REFERENCE_CLONES Dot precise_dot(const double* a, const double* b, std::size_t n) {
  Lanes high{};
  Lanes low{};
  Lanes magnitude{};
  const auto add = [&](std::size_t lane, std::size_t i) {
    const double product = a[i] * b[i];
    double error = 0;
    two_sum(high[lane], product, high[lane], error);
    low[lane] += error + product_error(a[i], b[i], product);
    magnitude[lane] += std::abs(product);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) add(lane, i + lane);
  }
  for (; i < n; ++i) add(0, i);

  ExactSum total;
  double magnitudes = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    total.add(high[lane]);
    total.add(low[lane]);
    magnitudes += magnitude[lane];
  }
  return {.value = total.value(), .rest = total.rest(), .magnitude = magnitudes};
}

}  // namespace assay::reference
