#include <algorithm>
#include <cmath>

#include "kernels/core/vector_clones.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/exponential_sums.h"
#include "kernels/reference/families.h"
#include "kernels/reference/lines.h"

namespace assay::reference {
namespace {

template <class Real>
void put(Values& out, std::size_t i, Real y, Real scale) {
  out.value[i] = static_cast<double>(y);
  out.rest[i] = static_cast<double>(y - out.value[i]);
  out.scale[i] = static_cast<double>(scale);
}

/// Consecutive elements of an input: of one row, or at one place of rows side by side, whose states
/// are `numbers` apart.
struct Run {
  std::size_t first;  // element of the input
  std::size_t count;
  std::size_t place;  // in its row, of the first element
  const double* row;  // state of its row
};

/// Calls in_row(i, run) or across_rows(i, run) for runs that cover elements [first, first + count),
/// i counted from `first`.
template <std::size_t numbers, class InRow, class AcrossRows>
void for_runs(const Problem& p, std::span<const double> state, std::int64_t first,
              std::size_t count, const InRow& in_row, const AcrossRows& across_rows) {
  const TensorSpec& spec = p.op.signature.inputs[0];
  const auto step = static_cast<std::size_t>(spec.line_step());
  const auto length = static_cast<std::size_t>(spec.line_elements());
  for (std::size_t i = 0; i < count;) {
    const std::size_t at = static_cast<std::size_t>(first) + i;
    const std::size_t place = at / step % length;
    const auto line = static_cast<std::size_t>(spec.line_of(static_cast<std::int64_t>(at)));
    const std::size_t whole = step == 1 ? length - place : step - at % step;
    const Run run{at, std::min(count - i, whole), place, &state[line * numbers]};
    step == 1 ? in_row(i, run) : across_rows(i, run);
    i += run.count;
  }
}

/// Calls f(i, x, state of the row, place in the row) for each element [first, ...).
template <std::size_t numbers, class T, class F>
void for_elements(const Problem& p, std::span<const double> state, std::int64_t first,
                  std::size_t count, const F& f) {
  const T* const x = p.input<T>(0).data();
  for_runs<numbers>(
      p, state, first, count,
      [&](std::size_t begin, const Run& run) {
        for (std::size_t i = 0; i < run.count; ++i) {
          f(begin + i, wide(x[run.first + i]), run.row, run.place + i);
        }
      },
      [&](std::size_t begin, const Run& run) {
        for (std::size_t i = 0; i < run.count; ++i) {
          f(begin + i, wide(x[run.first + i]), run.row + i * numbers, run.place);
        }
      });
}

// --- Softmax -------------------------------------------------------------------------------------

constexpr std::size_t softmax_numbers = 4;

/// State of each row: its maximum m, D = sum of e^(x_j - m) as value and rest, and
/// W = sum over j of y_j |x_j - m|.
template <class T>
State solve_softmax(const Problem& p) {
  return solve_lines<softmax_numbers, T>(p, [](std::span<const T> line, double* state) {
    double m = wide(line[0]);
    for (const T element : line) m = std::max(m, wide(element));
    const ExponentialSums sums = exponential_sums(line, m);
    state[0] = m;
    state[1] = sums.plain.sum.value();
    state[2] = sums.plain.sum.rest();
    state[3] = sums.weighted / state[1];
  });
}

/// Elements of one row, or (`apart`) of rows whose states are so many numbers apart.
template <class T, std::size_t apart>
ASSAY_VECTOR_CLONES void softmax_run(const T* x, const double* rows, std::size_t n, double* value,
                                     double* rest, double* scale) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const double* const row = rows + i * apart;
    const TwoDoubles distance = difference(wide(x[i]), row[0]);
    const TwoDoubles e = exponential(distance.value, distance.rest);
    const double quotient = e.value / row[1];
    const double remainder = std::fma(-quotient, row[1], e.value) + (e.rest - quotient * row[2]);
    const TwoDoubles y = fast_sum(quotient, remainder / row[1]);
    value[i] = y.value;
    rest[i] = y.rest;
    const double condition = y.value * (row[3] - distance.value);
    scale[i] = y.value > 0 ? condition : 0;  // not 0 times infinity
  }
}

/// Scale: y_i (|x_i - m| + W), the condition of softmax. Blanchard, Higham, Higham: "Accurately
/// computing the log-sum-exp and softmax functions", IMA J. Numer. Anal. 41(4), 2021, section 4.
template <class T>
void softmax_values(const Problem& p, std::span<const double> state, std::int64_t first,
                    Values out) {
  const T* const x = p.input<T>(0).data();
  const auto with = [&]<std::size_t apart>(std::size_t i, const Run& run) {
    softmax_run<T, apart>(x + run.first, run.row, run.count, &out.value[i], &out.rest[i],
                          &out.scale[i]);
  };
  for_runs<softmax_numbers>(
      p, state, first, out.value.size(),
      [&](std::size_t i, const Run& run) { with.template operator()<0>(i, run); },
      [&](std::size_t i, const Run& run) { with.template operator()<softmax_numbers>(i, run); });
}

// --- Layernorm -----------------------------------------------------------------------------------

constexpr std::size_t layernorm_numbers = 4;
constexpr std::size_t rmsnorm_numbers = 2;
constexpr long double epsilon = 1e-5L;

/// State of each row: the mean as value and rest, s = sqrt(variance + epsilon), mean |x|.
template <class T>
State solve_layernorm(const Problem& p) {
  using Real = Wider<T>;
  return solve_lines<layernorm_numbers, T>(p, [](std::span<const T> line, double* state) {
    const auto n = static_cast<Real>(line.size());
    Real sum = 0;
    Real magnitude = 0;
    for (const T element : line) {
      sum += wide(element);
      magnitude += std::abs(wide(element));
    }
    const Real mean = sum / n;
    Real squares = 0;
    for (const T element : line) squares += (wide(element) - mean) * (wide(element) - mean);
    state[0] = static_cast<double>(mean);
    state[1] = static_cast<double>(mean - state[0]);
    state[2] = static_cast<double>(std::sqrt(squares / n + static_cast<Real>(epsilon)));
    state[3] = static_cast<double>(magnitude / n);
  });
}

/// Scale: the bound of harness/oracle/layernorm_bound.cpp in units of u.
template <class T>
void layernorm_values(const Problem& p, std::span<const double> state, std::int64_t first,
                      Values out) {
  using Real = Wider<T>;
  const auto n = static_cast<Real>(p.op.signature.inputs[0].line_elements());
  const Real u = unit_roundoff(accumulator(p.op));
  const auto gammas = p.input<T>(1);
  const auto betas = p.input<T>(2);
  for_elements<layernorm_numbers, T>(
      p, state, first, out.value.size(),
      [&](std::size_t i, auto x, const double* row, std::size_t place) {
        const Real gamma = wide(gammas[place]);
        const Real beta = wide(betas[place]);
        const Real s = row[2];
        const Real z = (x - (static_cast<Real>(row[0]) + row[1])) / s;
        const Real y = gamma * z + beta;
        const Real mean_error = (n + 1) * row[3];
        const Real of_deviation = 8 + (n + 4) / 2 + mean_error * mean_error * u / (2 * s * s);
        put(out, i, y,
            std::abs(gamma) * (mean_error / s + std::abs(z) * of_deviation) + std::abs(gamma * z) +
                std::abs(y));
      });
}

// --- RMSNorm -------------------------------------------------------------------------------------

/// State of each row: sqrt(mean of squares + epsilon), as value and rest.
template <class T>
State solve_rmsnorm(const Problem& p) {
  using Real = Wider<T>;
  return solve_lines<rmsnorm_numbers, T>(p, [](std::span<const T> line, double* state) {
    Real squares = 0;
    for (const T element : line) squares += static_cast<Real>(wide(element)) * wide(element);
    const Real root =
        std::sqrt(squares / static_cast<Real>(line.size()) + static_cast<Real>(epsilon));
    state[0] = static_cast<double>(root);
    state[1] = std::isfinite(state[0]) ? static_cast<double>(root - state[0]) : 0;
  });
}

template <class T>
void rmsnorm_values(const Problem& p, std::span<const double> state, std::int64_t first,
                    Values out) {
  using Real = Wider<T>;
  const auto weights = p.input<T>(1);
  for_elements<rmsnorm_numbers, T>(
      p, state, first, out.value.size(),
      [&](std::size_t i, auto x, const double* row, std::size_t place) {
        const Real root = static_cast<Real>(row[0]) + row[1];
        put<Real>(out, i, x / root * wide(weights[place]), 0);
      });
}

Reference softmax(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_softmax<T>, .values = softmax_values<T>};
  });
}

Reference layernorm(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_layernorm<T>, .values = layernorm_values<T>};
  });
}

Reference rmsnorm(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_rmsnorm<T>, .values = rmsnorm_values<T>};
  });
}

constexpr ReferenceRow rows[] = {
    {"softmax", softmax},      {"layernorm", layernorm},      {"rmsnorm", rmsnorm},
    {"softmax_axis", softmax}, {"layernorm_axis", layernorm},
};

}  // namespace

std::span<const ReferenceRow> rowwise_references() { return rows; }

}  // namespace assay::reference
