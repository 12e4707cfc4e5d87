#include "harness/oracle/compare.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "harness/oracle/element_result.h"
#include "harness/oracle/number.h"
#include "kernels/core/clock.h"
#include "kernels/core/parallel.h"

namespace assay::oracle {
namespace {

/// Adds one output to the statistics of all outputs together.
void note_together(Verdict& verdict, std::int64_t index, double error, double scale,
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
void note_in_band(Verdict& verdict, double error, double deviation, double one_ulp,
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

/// Compares results that are defined bit for bit. NaNs compare as a class, since arithmetic does
/// not fix payloads, unless the op only moves elements.
template <class T, class IsUnknown>
Verdict compare_bits(std::int64_t first, std::span<const std::byte> expected,
                     const Tolerance& tolerance, DType dtype, std::span<const std::byte> actual,
                     int rank, const IsUnknown& is_unknown) {
  Verdict verdict;
  verdict.dtype = dtype;
  verdict.elements = static_cast<std::int64_t>(expected.size() / sizeof(T));
  if constexpr (!is_float<T>) {
    for (std::int64_t i = 0; i < verdict.elements; ++i) {
      verdict.unknown += is_unknown(first + i) ? 1 : 0;
    }
  }
  if (std::memcmp(expected.data(), actual.data(), expected.size()) == 0) return verdict;
  for (std::int64_t i = 0; i < verdict.elements; ++i) {
    T want, got;
    std::memcpy(&want, expected.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    std::memcpy(&got, actual.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    if (bits_of(want) == bits_of(got)) continue;
    if (is_unknown(first + i)) continue;
    if constexpr (is_float<T>) {
      if (!tolerance.payloads && std::isnan(widen(want)) && std::isnan(widen(got))) continue;
      if (tolerance.any_zero && widen(want) == 0 && widen(got) == 0) continue;
    }
    note_wrong(verdict, first + i, rank, want, got);
  }
  return verdict;
}

/// Distance of `a` from y = value + rest. An infinity stands for any number from the overflow
/// threshold on, since those round to it.
double error_of(double a, double y, double rest, DType dtype) {
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
  double operator()(std::int64_t i) const {
    return expected.share == nullptr ? 1 : expected.share(op, i);
  }
};

/// Compares with real numbers y = value + rest that were rounded or approximated. -0 and +0 are
/// equal here, unless the tolerance sets them apart: the sign of a zero sum depends on the order of
/// its terms.
template <class T>
Verdict compare_values(std::int64_t first, const reference::Values& expected,
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

template <class T>
Verdict judge_run(const reference::Reference& expected, const reference::Problem& problem,
                  std::span<const double> state, const Tolerance& tolerance,
                  std::span<const std::byte> got, int rank, std::int64_t first, std::int64_t count,
                  double& reference_s) {
  const auto n = static_cast<std::size_t>(count);
  if (expected.bits != nullptr) {
    std::array<std::byte, run_elements * sizeof(T)> want;
    const auto bits = std::span(want).first(n * sizeof(T));
    const double begin_s = steady_s();
    expected.bits(problem, state, first, bits);
    reference_s = steady_s() - begin_s;
    return compare_bits<T>(first, bits, tolerance, output_dtype(problem.op), got, rank,
                           [&](std::int64_t i) {
                             return expected.is_unknown != nullptr && expected.is_unknown(state, i);
                           });
  }
  if constexpr (is_float<T>) {
    std::array<double, run_elements> value, rest, scale;
    const reference::Values values{std::span(value).first(n), std::span(rest).first(n),
                                   std::span(scale).first(n)};
    const double begin_s = steady_s();
    expected.values(problem, state, first, values);
    reference_s = steady_s() - begin_s;
    return compare_values<T>(first, values, tolerance, output_dtype(problem.op), got, rank,
                             Share{expected, problem.op});
  } else {
    __builtin_unreachable();  // refused by compare()
  }
}

void require_reference(const reference::Reference& expected, const OpInstance& op) {
  // Without expected bits or values nothing would be compared, so nothing would be wrong.
  const bool judgeable =
      expected.bits != nullptr || (expected.values != nullptr && is_floating(output_dtype(op)));
  if (!judgeable) throw std::logic_error("no reference for " + std::string(op.op->name));
}

}  // namespace

Verdict compare_run(const reference::Reference& expected, const reference::Problem& problem,
                    std::span<const double> state, const Tolerance& tolerance,
                    std::span<const std::byte> actual, int rank, std::int64_t first) {
  require_reference(expected, problem.op);
  return visit_dtype(output_dtype(problem.op), [&]<class T>(std::type_identity<T>) {
    const auto count = static_cast<std::int64_t>(actual.size() / sizeof(T));
    if (count > run_elements) throw std::logic_error("a run has too many elements");
    double reference_s = 0;
    return judge_run<T>(expected, problem, state, tolerance, actual, rank, first, count,
                        reference_s);
  });
}

Verdict compare(const reference::Reference& expected, const reference::Problem& problem,
                std::span<const double> state, const Tolerance& tolerance,
                std::span<const std::byte> actual, int rank, double* reference_share) {
  require_reference(expected, problem.op);
  if (actual.size() != problem.op.signature.outputs[0].bytes()) {
    throw std::logic_error("the output is not of the size that the op states");
  }
  return visit_dtype(output_dtype(problem.op), [&]<class T>(std::type_identity<T>) {
    Verdict verdict;
    verdict.dtype = output_dtype(problem.op);
    const auto elements = static_cast<std::int64_t>(actual.size() / sizeof(T));
    // Sums over threads: a waiting thread spends no time.
    double all_reference_s = 0;
    double all_s = 0;
    parallel_runs(elements, run_elements, [&](std::int64_t first, std::int64_t count) {
      const double begin_s = steady_s();
      double reference_s = 0;
      const auto got = actual.subspan(static_cast<std::size_t>(first) * sizeof(T),
                                      static_cast<std::size_t>(count) * sizeof(T));
      const Verdict run =
          judge_run<T>(expected, problem, state, tolerance, got, rank, first, count, reference_s);
      const double run_s = steady_s() - begin_s;
#pragma omp critical(assay_merge_verdict)
      {
        verdict.merge(run);
        all_reference_s += reference_s;
        all_s += run_s;
      }
    });
    if (reference_share != nullptr) *reference_share = all_s > 0 ? all_reference_s / all_s : 0;
    return verdict;
  });
}

}  // namespace assay::oracle
