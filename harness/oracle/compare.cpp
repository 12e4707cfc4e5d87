#include "harness/oracle/compare.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "harness/oracle/element_result.h"
#include "harness/oracle/glance.h"
#include "harness/oracle/judge_values.h"
#include "harness/oracle/number.h"
#include "kernels/core/clock.h"
#include "kernels/core/parallel.h"

namespace assay::oracle {
namespace {

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
    const Share share{expected, problem.op};
    const DType dtype = output_dtype(problem.op);
    if (const auto verdict = glance<T>(first, values, tolerance, dtype, got, rank, share)) {
      return *verdict;
    }
    return judge_values<T>(first, values, tolerance, dtype, got, rank, share);
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
