#include <cmath>

#include "kernels/reference/dot.h"
#include "kernels/reference/families.h"
#include "kernels/reference/state_layout.h"

// Gradient of a layer's weights over all samples at once, without shards.
namespace assay::reference {
namespace {

/// Transposes [rows, cols] to [cols, rows].
template <class T>
std::vector<double> transposed(std::span<const T> matrix, std::size_t rows, std::size_t cols) {
  std::vector<double> result(matrix.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) result[c * rows + r] = wide(matrix[r * cols + c]);
  }
  return result;
}

/// State of each element: value and rest of the sum over ranks, and the sum of |terms|.
template <class T>
State solve(const Problem& p) {
  const auto samples = static_cast<std::size_t>(p.op.params.integer("samples"));
  const auto in = static_cast<std::size_t>(p.op.params.integer("in"));
  const auto out = static_cast<std::size_t>(p.op.params.integer("out"));
  const auto ranks = static_cast<double>(p.op.params.integer("ranks"));
  const auto x = transposed(p.input<T>(0), samples, in);
  const auto g = transposed(p.input<T>(1), samples, out);
  State state(in * out * solved_numbers);
  for_each_dot<T>(g, x, samples, [&](std::int64_t o, std::int64_t i, const Dot& d) {
    const double value = d.value / ranks;
    // The remainder of a division is exact in a double.
    const double rest = (std::fma(-value, ranks, d.value) + d.rest) / ranks;
    set_solved(state, static_cast<std::size_t>(o) * in + static_cast<std::size_t>(i), value, rest,
               d.magnitude / ranks);
  });
  return state;
}

Reference distributed_gradient(const OpInstance& op) {
  return visit_dtype(op.dtype, []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve<T>, .values = solved_values};
  });
}

constexpr ReferenceRow rows[] = {
    {"distributed_gradient", distributed_gradient},
};

}  // namespace

std::span<const ReferenceRow> distributed_gradient_references() { return rows; }

}  // namespace assay::reference
