#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "kernels/core/vector_clones.h"
#include "kernels/reference/exponential.h"
#include "kernels/reference/lane_sums.h"
#include "kernels/reference/rounding.h"

namespace assay::reference {

/// Returns x - m, with its error; infinities and NaN have none.
__attribute__((always_inline)) inline TwoDoubles difference(double x, double m) {
  double distance = 0;
  double error = 0;
  two_sum(x, -m, distance, error);
  return {distance, std::abs(distance) < std::numeric_limits<double>::infinity() ? error : 0};
}

/// Sums of e^(x_j - m) and of e^(x_j - m) |x_j - m|, one in each lane.
struct LaneExponentials {
  LaneSums plain;
  std::array<double, lanes> weighted{};

  __attribute__((always_inline)) void add(std::size_t lane, double x, double m) {
    const TwoDoubles distance = difference(x, m);
    const TwoDoubles e = exponential(distance.value, distance.rest);
    plain.add(lane, e.value);
    plain.rest[lane] += e.rest;
    weighted[lane] += e.value > 0 ? -e.value * distance.value : 0;  // skips 0 times infinity
  }
};

template <class T>
ASSAY_VECTOR_CLONES LaneExponentials lane_exponentials(const T* x, std::size_t n, double m) {
  LaneExponentials sums;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) sums.add(lane, wide(x[i + lane]), m);
  }
  if (i < n) {  // lines are often short
    std::array<double, lanes> rest;
    rest.fill(-std::numeric_limits<double>::infinity());  // e^-infinity adds nothing
    for (std::size_t lane = 0; i + lane < n; ++lane) rest[lane] = wide(x[i + lane]);
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) sums.add(lane, rest[lane], m);
  }
  return sums;
}

struct ExponentialSums {
  Total plain;          // of e^(x_j - m)
  double weighted = 0;  // of e^(x_j - m) |x_j - m|

  void add(const LaneExponentials& sums) {
    plain.add(sums.plain);
    for (const double one : sums.weighted) weighted += one;
  }
};

/// Sums over a line, of which m is the greatest number.
template <class T>
ExponentialSums exponential_sums(std::span<const T> x, double m) {
  return over_blocks<ExponentialSums>(x.size(), [&](std::size_t first, std::size_t count) {
    return lane_exponentials(x.data() + first, count, m);
  });
}

}  // namespace assay::reference
