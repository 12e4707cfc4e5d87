#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "harness/oracle/judge_values.h"
#include "harness/oracle/number.h"
#include "harness/oracle/run_elements.h"
#include "harness/oracle/tolerance.h"
#include "harness/oracle/verdict.h"
#include "kernels/core/vector_clones.h"
#include "kernels/reference/reference.h"

// Most runs of elements hold finite numbers alone, all of them right: then several elements are
// judged at once. Any other run is left to judge_values, which knows every case.
namespace assay::oracle {

/// A tolerance as numbers alone: loops that choose by a flag stay scalar. An exact one allows -1,
/// less than any error.
struct Terms {
  double weight;  // of errors: 0 in an exact tolerance, where right elements have none
  std::uint64_t signs_of_zero;  // the sign bit, where zeros of different signs differ; else 0
  int lowest;                   // exponent
  int precision;                // bits
  double scale;
  double relative;
  double ulps;
  double absolute;
  Growth probable;  // infinite where there is none
};

/// Figures of each element of a run.
struct Figures {
  std::array<double, run_elements> error;
  std::array<double, run_elements> severity;
};

/// Figures of a whole run.
struct Totals {
  std::uint64_t other;    // not 0 if any element is not right, or not finite
  std::uint64_t bounded;  // not 0 if any has a bound
  std::int64_t misrounded;
  double max_error;
  double max_ulp;
  double max_severity;
  double error_squares;
  double scales;
};

/// Applies the formulas of judge_values. `of_all` is the scale that a probable bound counts with.
template <class T>
ASSAY_VECTOR_CLONES Totals glance_at(const reference::Values& expected, const double* of_all,
                                     const T* actual, const Terms& given, Figures& figures) {
  constexpr double most = std::numeric_limits<double>::max();
  const Terms terms = given;  // which the figures are surely no part of
  const double* const y = expected.value.data();
  const double* const rest = expected.rest.data();
  const double* const scale = expected.scale.data();
  double* const errors = figures.error.data();
  double* const severities = figures.severity.data();
  const std::size_t n = expected.value.size();
  std::uint64_t other = 0;
  std::uint64_t bounded = 0;
  std::int64_t misrounded = 0;
  double max_error = 0;
  double max_ulp = 0;
  double max_severity = 0;
  double error_squares = 0;
  double scales = 0;
#pragma omp simd reduction(| : other, bounded) reduction(max : max_error, max_ulp, max_severity) \
    reduction(+ : misrounded, error_squares, scales)
  for (std::size_t i = 0; i < n; ++i) {
    const double a = widen(actual[i]);
    const double rounded = widen(correctly_rounded<T>(y[i], rest[i]));
    const bool is_rounded = a == rounded;
    const double distance = std::abs((a - y[i]) - rest[i]);
    const double error = terms.weight * distance;
    const double one_ulp = spacing(y[i], terms.lowest, terms.precision);
    const double further = terms.ulps * one_ulp + terms.absolute;
    const double size = std::abs(y[i]);
    const double proved = terms.scale * std::abs(scale[i]) + terms.relative * size + further;
    const double probable =
        terms.probable.scale * of_all[i] + terms.probable.relative * size + further;
    const double allowed = std::min(proved, probable);
    const std::uint64_t signs =
        std::bit_cast<std::uint64_t>(a) ^ std::bit_cast<std::uint64_t>(rounded);
    other |= std::uint64_t{!is_rounded} & std::uint64_t{!(distance <= allowed)};
    other |= std::uint64_t{!(std::abs(a) <= most)} | std::uint64_t{!(size <= most)};
    other |= rounded == 0 ? signs & terms.signs_of_zero : 0;
    const double at_least = std::max(allowed, error);
    const double granted = is_rounded ? at_least : allowed;
    const double ratio = error / granted;
    const double severity = error == 0 ? 0 : ratio;
    bounded |= granted > 0 ? 1 : 0;
    misrounded += is_rounded ? 0 : 1;
    errors[i] = error;
    severities[i] = severity;
    max_error = std::max(max_error, error);
    max_ulp = std::max(max_ulp, error / one_ulp);
    max_severity = std::max(max_severity, severity);
    error_squares += error * error;
    scales += std::abs(scale[i]);
  }
  return {other, bounded, misrounded, max_error, max_ulp, max_severity, error_squares, scales};
}

/// Verdict of a run of elements, as judge_values gives it; empty for one that has any element
/// which is not a finite number, or not right.
template <class T>
std::optional<Verdict> glance(std::int64_t first, const reference::Values& expected,
                              const Tolerance& tolerance, DType dtype,
                              std::span<const std::byte> actual, int rank, const Share& share) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (tolerance.zero_is_exact || expected.value.empty()) return std::nullopt;
  std::array<double, run_elements> of_all;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    of_all[i] = std::abs(expected.scale[i]);
    if (tolerance.probable && share.is_part()) {
      of_all[i] /= std::sqrt(share(first + static_cast<std::int64_t>(i)));
    }
  }
  std::array<T, run_elements> aligned;  // or the loop would stay scalar
  std::memcpy(aligned.data(), actual.data(), actual.size());
  Figures figures;
  constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
  Terms terms{.weight = 1,
              .signs_of_zero = tolerance.signed_zero ? sign : 0,
              .lowest = smallest_exponent(dtype),
              .precision = precision_bits(dtype),
              .scale = tolerance.scale,
              .relative = tolerance.relative,
              .ulps = tolerance.ulps,
              .absolute = tolerance.absolute,
              .probable = tolerance.probable.value_or(Growth{0, infinity})};
  if (tolerance.exact) {
    terms.weight = terms.scale = terms.relative = terms.ulps = 0;
    terms.absolute = -1;
  }
  const Totals found = glance_at<T>(expected, of_all.data(), aligned.data(), terms, figures);
  if (found.other != 0) return std::nullopt;
  const auto first_of = [](const std::array<double, run_elements>& of_each, double figure) {
    return std::ranges::find(of_each, figure) - of_each.begin();
  };
  Verdict verdict;
  verdict.dtype = dtype;
  verdict.elements = std::ssize(expected.value);
  verdict.max_ulp = found.max_ulp;
  verdict.max_abs_error = found.max_error;
  if (found.bounded != 0) verdict.max_bound_ratio = found.max_severity;
  if (!tolerance.exact) {
    verdict.bounded = verdict.elements;
    verdict.misrounded = found.misrounded;
    verdict.error_squares = found.error_squares;
    verdict.scales = found.scales;
    verdict.largest_error = found.max_error;
    if (found.max_error > 0)
      verdict.largest_index = first + first_of(figures.error, found.max_error);
  }
  const auto worst = static_cast<std::size_t>(first_of(figures.severity, found.max_severity));
  // Judges the worst one again for its bound.
  const auto part = [&](std::span<double> all) { return all.subspan(worst, 1); };
  const reference::Values of_worst{part(expected.value), part(expected.rest), part(expected.scale)};
  verdict.worst = judge_values<T>(first + static_cast<std::int64_t>(worst), of_worst, tolerance,
                                  dtype, actual.subspan(worst * sizeof(T), sizeof(T)), rank, share)
                      .worst;
  return verdict;
}

}  // namespace assay::oracle
