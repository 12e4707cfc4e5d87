#include <algorithm>
#include <cmath>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/lines.h"

namespace assay::reference {
namespace {

std::size_t line_of(const TensorSpec& spec, std::size_t element) {
  return static_cast<std::size_t>(spec.line_of(static_cast<std::int64_t>(element)));
}

template <class Real>
void put(Values& out, std::size_t i, Real y, Real scale) {
  out.value[i] = static_cast<double>(y);
  out.rest[i] = static_cast<double>(y - out.value[i]);
  out.scale[i] = static_cast<double>(scale);
}

/// Calls f(i, x, state of the row, place in the row) for each element [first, ...).
template <std::size_t numbers, class T, class F>
void for_elements(const Problem& p, std::span<const double> state, std::int64_t first,
                  std::size_t count, const F& f) {
  const TensorSpec& spec = p.op.signature.inputs[0];
  const auto x = p.input<T>(0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(first) + i;
    f(i, wide(x[at]), &state[line_of(spec, at) * numbers],
      static_cast<std::size_t>(spec.place_of(static_cast<std::int64_t>(at))));
  }
}

// --- Softmax -------------------------------------------------------------------------------------

constexpr std::size_t softmax_numbers = 4;

/// State of each row: its maximum m, D = sum of e^(x_j - m) as value and rest, and
/// W = sum over j of y_j |x_j - m|.
template <class T>
State solve_softmax(const Problem& p) {
  using Real = Wider<T>;
  return solve_lines<softmax_numbers, T>(p, [](std::span<const T> line, double* state) {
    double m = wide(line[0]);
    for (const T element : line) m = std::max(m, wide(element));
    Real sum = 0;
    Real weighted = 0;
    for (const T element : line) {
      const Real e = std::exp(static_cast<Real>(wide(element)) - m);
      sum += e;
      if (e > 0) weighted += e * (static_cast<Real>(m) - wide(element));  // skips 0 times infinity
    }
    const auto high = static_cast<double>(sum);
    state[0] = m;
    state[1] = high;
    state[2] = static_cast<double>(sum - high);
    state[3] = static_cast<double>(weighted / sum);
  });
}

/// Scale: y_i (|x_i - m| + W), the condition of softmax. Blanchard, Higham, Higham: "Accurately
/// computing the log-sum-exp and softmax functions", IMA J. Numer. Anal. 41(4), 2021, section 4.
template <class T>
void softmax_values(const Problem& p, std::span<const double> state, std::int64_t first,
                    Values out) {
  using Real = Wider<T>;
  for_elements<softmax_numbers, T>(p, state, first, out.value.size(),
                                   [&](std::size_t i, auto x, const double* row, auto) {
                                     const Real sum = static_cast<Real>(row[1]) + row[2];
                                     const Real distance = static_cast<Real>(row[0]) - x;
                                     const Real y = std::exp(-distance) / sum;
                                     put(out, i, y, y > 0 ? y * (distance + row[3]) : 0);
                                   });
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
  for_elements<layernorm_numbers, T>(
      p, state, first, out.value.size(),
      [&](std::size_t i, auto x, const double* row, std::size_t place) {
        const Real gamma = wide(p.input<T>(1)[place]);
        const Real beta = wide(p.input<T>(2)[place]);
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
  for_elements<rmsnorm_numbers, T>(
      p, state, first, out.value.size(),
      [&](std::size_t i, auto x, const double* row, std::size_t place) {
        const Real root = static_cast<Real>(row[0]) + row[1];
        put<Real>(out, i, x / root * wide(p.input<T>(1)[place]), 0);
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
