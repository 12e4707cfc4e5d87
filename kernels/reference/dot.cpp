#include "kernels/reference/dot.h"

#include <array>
#include <cmath>

#include "kernels/reference/exact_sum.h"

// One build serves every x86-64 here too: see kernels/cpu/vectorize.h.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ASSAY_REFERENCE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ASSAY_REFERENCE_CLONES
#endif

namespace assay::reference {
namespace {

constexpr std::size_t lanes = 16;
using Lanes = std::array<double, lanes>;

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

ASSAY_REFERENCE_CLONES void four_plain_dots(const double* a, const double* b, std::size_t n,
                                            Dot* dots) {
  const double* b0 = b;
  const double* b1 = b + n;
  const double* b2 = b + 2 * n;
  const double* b3 = b + 3 * n;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  double m0 = 0, m1 = 0, m2 = 0, m3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, m0, m1, m2, m3)
  for (std::size_t i = 0; i < n; ++i) {
    const double p0 = a[i] * b0[i];
    const double p1 = a[i] * b1[i];
    const double p2 = a[i] * b2[i];
    const double p3 = a[i] * b3[i];
    s0 += p0;
    s1 += p1;
    s2 += p2;
    s3 += p3;
    m0 += std::abs(p0);
    m1 += std::abs(p1);
    m2 += std::abs(p2);
    m3 += std::abs(p3);
  }
  dots[0] = {.value = s0, .magnitude = m0};
  dots[1] = {.value = s1, .magnitude = m1};
  dots[2] = {.value = s2, .magnitude = m2};
  dots[3] = {.value = s3, .magnitude = m3};
}

ASSAY_REFERENCE_CLONES Dot precise_dot(const double* a, const double* b, std::size_t n) {
  Lanes high{};
  Lanes low{};
  Lanes magnitude{};
  const auto add = [&](std::size_t lane, std::size_t i) {
    const double product = a[i] * b[i];
    double error = 0;
    two_sum(high[lane], product, high[lane], error);
    low[lane] += error + std::fma(a[i], b[i], -product);
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
    if (std::isfinite(high[lane])) total.add(low[lane]);
    magnitudes += magnitude[lane];
  }
  return {.value = total.value(), .rest = total.rest(), .magnitude = magnitudes};
}

}  // namespace

void plain_dots(const double* a, const double* b, std::size_t n, std::span<Dot> dots) {
  std::size_t row = 0;
  for (; row + 4 <= dots.size(); row += 4) four_plain_dots(a, b + row * n, n, &dots[row]);
  for (; row < dots.size(); ++row) dots[row] = plain_dot(a, b + row * n, n);
}

void precise_dots(const double* a, const double* b, std::size_t n, std::span<Dot> dots) {
  for (std::size_t row = 0; row < dots.size(); ++row) dots[row] = precise_dot(a, b + row * n, n);
}

ASSAY_REFERENCE_CLONES ErrorDot error_dot(const double* w, const double* h, const double* error,
                                          std::size_t n) {
  double from_inputs = 0;
  double magnitude = 0;
#pragma omp simd reduction(+ : from_inputs, magnitude)
  for (std::size_t i = 0; i < n; ++i) {
    const double weight = std::abs(w[i]);
    from_inputs += weight * error[i];
    magnitude += weight * (std::abs(h[i]) + error[i]);
  }
  return {from_inputs, magnitude};
}

}  // namespace assay::reference
