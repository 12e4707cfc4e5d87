#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "harness/oracle/number.h"
#include "harness/oracle/verdict.h"

namespace assay::oracle {

/// One judged element. `error` and `allowed` are not negative; `error` may be NaN or infinite.
struct Judged {
  std::int64_t index;
  int rank;
  double error;
  double ulps;
  double allowed;
  bool right;
};

/// Adds a judged element to the verdict.
template <class T>
void note(Verdict& verdict, const Judged& e, T expected, T actual) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double error = std::isnan(e.error) ? infinity : e.error;
  const double ulps = std::isnan(e.ulps) ? infinity : e.ulps;
  verdict.max_abs_error = std::max(verdict.max_abs_error, error);
  verdict.max_ulp = std::max(verdict.max_ulp, ulps);
  // Most elements are right, and nearer to what they should be than another: without a division.
  const double least = std::min(verdict.max_bound_ratio.value_or(0), verdict.worst.severity);
  if (e.right && verdict.worst.known && error < least * e.allowed) return;
  const double severity = error == 0 ? 0 : e.allowed > 0 ? error / e.allowed : infinity;
  if (e.allowed > 0) {
    verdict.max_bound_ratio = std::max(verdict.max_bound_ratio.value_or(0), severity);
  }
  if (!e.right) {
    ++verdict.mismatches;
    if (verdict.mismatch_indices.size() < Verdict::kept_indices) {
      verdict.mismatch_indices.push_back(e.index);
    }
  }
  Verdict::Worst& worst = verdict.worst;
  const bool worse = !worst.known || (!e.right && !worst.mismatch) ||
                     (e.right != worst.mismatch && severity > worst.severity);
  if (worse) {
    worst = {true,    !e.right, severity,          e.allowed,
             e.index, e.rank,   bits_of(expected), bits_of(actual)};
  }
}

/// Distance of two values. Integers subtract as integers: neighbours beyond 2^53 are the same
/// double.
template <class T>
double distance(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const auto [low, high] = std::minmax(a, b);
    return static_cast<double>(static_cast<U>(static_cast<U>(high) - static_cast<U>(low)));
  } else {
    return std::abs(widen(a) - widen(b));
  }
}

/// Notes a wrong element of which only `expected` is right.
template <class T>
void note_wrong(Verdict& verdict, std::int64_t index, int rank, T expected, T actual) {
  const double error = distance(actual, expected);
  const double ulps = !is_float<T> ? 0 : error / ulp(widen(expected), verdict.dtype);
  note(verdict, {index, rank, error, ulps, 0, false}, expected, actual);
}

}  // namespace assay::oracle
