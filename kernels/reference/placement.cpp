#include <array>
#include <cmath>

#include "kernels/reference/dot.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/state_layout.h"

// Results of the steps on the placement layer: most are those of one op, wherever it runs.
namespace assay::reference {
namespace {

Reference copy(const OpInstance& op) { return find(op, "memcpy"); }
Reference square(const OpInstance& op) { return find(op, "square"); }
Reference linear(const OpInstance& op) { return find(op, "linear"); }
Reference linear_stack(const OpInstance& op) { return find(op, "linear_stack"); }
Reference random(const OpInstance& op) { return find(op, "random"); }

Reference squares_of_three(const OpInstance&) {
  return {.bits = [](const Problem&, std::span<const double>, std::int64_t first,
                     std::span<std::byte> out) {
    constexpr std::array<std::int64_t, 3> squares{1, 4, 9};
    for (std::size_t i = 0; i < out.size() / sizeof(std::int64_t); ++i) {
      store(out, i, squares.at(static_cast<std::size_t>(first) + i));
    }
  }};
}

/// Transposes [rows, cols] to [cols, rows].
template <class T>
std::vector<double> transposed(std::span<const T> matrix, std::size_t rows, std::size_t cols) {
  std::vector<double> result(matrix.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) result[c * rows + r] = wide(matrix[r * cols + c]);
  }
  return result;
}

/// Gradient of a layer's weights over all samples at once, without shards. State of each element:
/// value and rest of the sum over ranks, and the sum of |terms|.
template <class T>
State solve_gradient(const Problem& p) {
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
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_gradient<T>, .values = solved_values};
  });
}

constexpr ReferenceRow rows[] = {
    {"device_query", copy},
    {"absent_device_refused", copy},
    {"visible_mask", copy},
    {"most_free", copy},
    {"device_guard", copy},
    {"born_on_cpu", copy},
    {"move_copies", copy},
    {"move_stays", copy},
    {"round_trip", copy},
    {"move_between", copy},
    {"mixed_peers_refused", copy},
    {"mixed_devices_refused", copy},
    {"results_stay", square},
    {"square_123", squares_of_three},
    {"linear_module", linear},
    {"sequential", linear_stack},
    {"manual_seed", random},
    {"manual_seed_all", random},
    {"data_parallel", linear_stack},
    {"distributed_gradient", distributed_gradient},
};

}  // namespace

std::span<const ReferenceRow> placement_references() { return rows; }

}  // namespace assay::reference
