#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "harness/oracle/element_result.h"
#include "harness/oracle/number.h"
#include "harness/oracle/tolerance.h"
#include "harness/oracle/verdict.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {

/// Adds one output to the statistics of all outputs together.
inline void note_together(Verdict& verdict, std::int64_t index, double error, double scale,
                          bool is_rounded) {
  ++verdict.bounded;
  verdict.misrounded += is_rounded ? 0 : 1;
  verdict.error_squares += error * error;
  verdict.scales += scale;
  if (error > verdict.largest_error) {
    verdict.largest_error = error;
    verdict.largest_index = index;
  }
}

/// Adds an output with a measured deviation. A negative one stands for a value that occurred
/// before: equal values are rounded alike, and count once.
/// `to_rounded`: distance of the right value from its rounded one.
inline void note_in_band(Verdict& verdict, double error, double deviation, double one_ulp,
                         double to_rounded, bool is_rounded) {
  if (deviation == 0) return;
  const double share = error / std::abs(deviation);
  ++verdict.banded;
  verdict.band_squares += share * share;
  if (deviation < 0) return;
  verdict.band_misrounded += is_rounded ? 0 : 1;
  verdict.misroundings_expected += std::min(1.0, deviation / one_ulp);
  // Data of few bits put results next to ties, where chance decides nothing.
  verdict.near_ties += std::abs(to_rounded - one_ulp / 2) <= deviation / 2 ? 1 : 0;
}

/// Distance of `a` from y = value + rest. An infinity stands for any number from the overflow
/// threshold on, since those round to it.
inline double error_of(double a, double y, double rest, DType dtype) {
  if (std::isinf(a) && std::isfinite(y)) {
    const double threshold = std::ldexp(2 - unit_roundoff(dtype),
                                        largest_exponent(dtype));  // for f64 the largest itself
    a = std::copysign(std::min(threshold, std::numeric_limits<double>::max()), a);
  }
  return std::abs((a - y) - rest);
}

/// Share of the op's terms behind each element.
struct Share {
  const reference::Reference& expected;
  const OpInstance& op;
  double operator()(std::int64_t i) const { return is_part() ? expected.share(op, i) : 1; }
  bool is_part() const { return expected.share != nullptr; }
};

/// Compares with real numbers y = value + rest that were rounded or approximated. -0 and +0 are
/// equal here, unless the tolerance sets them apart: the sign of a zero sum depends on the order of
/// its terms.
template <class T>
Verdict judge_values(std::int64_t first, const reference::Values& expected,
                     const Tolerance& tolerance, DType dtype, std::span<const std::byte> actual,
                     int rank, const Share& share) {
  Verdict verdict;
  verdict.dtype = dtype;
  verdict.elements = std::ssize(expected.value);
  const int lowest = smallest_exponent(dtype);
  const int precision = precision_bits(dtype);
  for (std::int64_t i = 0; i < verdict.elements; ++i) {
    const auto at = static_cast<std::size_t>(i);
    T got;
    std::memcpy(&got, actual.data() + at * sizeof(T), sizeof(T));
    const double y = expected.value[at];
    const double a = widen(got);
    const double scale = std::abs(expected.scale[at]);
    if (tolerance.zero_is_exact && std::isinf(scale)) {
      ++verdict.unknown;
      continue;
    }
    const T rounded = correctly_rounded<T>(y, expected.rest[at]);
    const bool alike =
        tolerance.any_nonfinite && !std::isfinite(widen(rounded)) && !std::isfinite(a);
    const bool is_other_zero = tolerance.signed_zero && a == 0 && widen(rounded) == 0 &&
                               std::signbit(a) != std::signbit(widen(rounded));
    const bool is_rounded =
        alike || (std::isnan(y) ? std::isnan(a) : a == widen(rounded) && !is_other_zero);
    // Against an infinite value the error is NaN or infinite: only the same infinity can pass.
    const bool no_error =
        (tolerance.exact || !std::isfinite(y) || !std::isfinite(widen(rounded))) && is_rounded;
    const double error = no_error ? 0.0 : error_of(a, y, expected.rest[at], dtype);
    const double one_ulp = std::isfinite(y) ? spacing(y, lowest, precision) : 1.0;
    const bool is_exact = tolerance.exact || (tolerance.zero_is_exact && scale == 0);
    const bool has_bound = !is_exact && std::isfinite(y);
    const double further = tolerance.ulps * one_ulp + tolerance.absolute;
    const double proved =
        has_bound ? tolerance.scale * scale + tolerance.relative * std::abs(y) + further : 0.0;
    double allowed = proved;
    if (has_bound && tolerance.probable) {
      const double of_all = scale / std::sqrt(share(first + i));
      allowed = std::min(proved, tolerance.probable->scale * of_all +
                                     tolerance.probable->relative * std::abs(y) + further);
    }
    // NaN fails this comparison. The correctly rounded value passes any rule.
    const bool right = (!is_exact && error <= allowed && !is_other_zero) || is_rounded;
    if (!right && has_bound && error <= proved && !is_other_zero) ++verdict.improbable;
    const double granted = is_rounded ? std::max(allowed, error) : allowed;
    note(verdict, {first + i, rank, error, error / one_ulp, granted, right}, rounded, got);
    if (!tolerance.exact && std::isfinite(y)) {
      note_together(verdict, first + i, error, scale, is_rounded);
      if (tolerance.zero_is_exact) {
        note_in_band(verdict, error, expected.scale[at], one_ulp, std::abs(y - widen(rounded)),
                     is_rounded);
      }
    }
  }
  return verdict;
}

}  // namespace assay::oracle
