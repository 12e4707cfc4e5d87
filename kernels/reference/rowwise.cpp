#include <algorithm>
#include <cmath>

#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

constexpr std::size_t state_per_row = 4;

/// State of each row: its maximum m, D = sum of e^(x_j - m) as value and rest, and
/// W = sum over j of y_j |x_j - m|.
template <class T>
State solve_softmax(const Problem& p) {
  const auto rows = static_cast<std::int64_t>(p.op.params.integer("rows"));
  const auto cols = static_cast<std::size_t>(p.op.params.integer("cols"));
  const auto x = p.input<T>(0);
  State state(static_cast<std::size_t>(rows) * state_per_row);
#pragma omp parallel for schedule(static) if (rows > 1)
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    const auto line = x.subspan(r * cols, cols);
    const long double m = *std::max_element(line.begin(), line.end());
    long double sum = 0;
    long double weighted = 0;
    for (const T element : line) {
      const long double e = std::exp(static_cast<long double>(element) - m);
      sum += e;
      weighted += e * (m - static_cast<long double>(element));
    }
    const auto high = static_cast<double>(sum);
    state[r * state_per_row] = static_cast<double>(m);
    state[r * state_per_row + 1] = high;
    state[r * state_per_row + 2] = static_cast<double>(sum - high);
    state[r * state_per_row + 3] = static_cast<double>(weighted / sum);
  }
  return state;
}

/// Scale: y_i (|x_i - m| + W), the condition of softmax. Blanchard, Higham, Higham: "Accurately
/// computing the log-sum-exp and softmax functions", IMA J. Numer. Anal. 41(4), 2021, section 4.
template <class T>
void softmax_values(const Problem& p, std::span<const double> state, std::int64_t first,
                    Values out) {
  const auto cols = static_cast<std::size_t>(p.op.params.integer("cols"));
  const auto x = p.input<T>(0);
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(first) + i;
    const double* row = &state[at / cols * state_per_row];
    const long double sum = static_cast<long double>(row[1]) + row[2];
    const long double distance = static_cast<long double>(row[0]) - x[at];
    const long double y = std::exp(-distance) / sum;
    out.value[i] = static_cast<double>(y);
    out.rest[i] = static_cast<double>(y - out.value[i]);
    out.scale[i] = out.value[i] * (static_cast<double>(distance) + row[3]);
  }
}

Reference softmax(const OpInstance& op) {
  if (op.dtype == DType::f64)
    return {.solve = solve_softmax<double>, .values = softmax_values<double>};
  return {.solve = solve_softmax<float>, .values = softmax_values<float>};
}

constexpr ReferenceRow rows[] = {
    {"softmax", softmax},
};

}  // namespace

std::span<const ReferenceRow> rowwise_references() { return rows; }

}  // namespace assay::reference
