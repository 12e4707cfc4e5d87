#include <algorithm>
#include <cmath>

#include "kernels/core/lines.h"
#include "kernels/reference/activations.h"
#include "kernels/reference/block_values.h"
#include "kernels/reference/dot.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/packed_state.h"
#include "kernels/reference/state_layout.h"

namespace assay::reference {
namespace {

// Rows, columns and terms: of a layer the parameters batch, out and in, of its gradients others.

/// Extents of the distinct outputs: all, or one period of rows and columns (Panel).
struct Extents {
  std::int64_t batch;
  std::int64_t in;
  std::int64_t out;
  std::int64_t rows;
  std::int64_t cols;

  explicit Extents(const Problem& p)
      : batch(p.op.signature.outputs[0].shape.at(0)),
        in(terms(p.op)),
        out(p.op.signature.outputs[0].shape.at(1)),
        rows(p.panel.rows > 0 ? std::min(p.panel.rows, batch) : batch),
        cols(p.panel.cols > 0 ? std::min(p.panel.cols, out) : out) {}

  /// Terms of a sum. A byte may be two elements of a block-scaled line.
  static std::int64_t terms(const OpInstance& op) {
    return is_block_scaled(op.format) ? op.params.integer("in")
                                      : op.signature.inputs[0].line_elements();
  }
  /// Index into the solved outputs of element i of the whole output.
  std::size_t solved(std::int64_t i) const {
    return static_cast<std::size_t>(i / out % rows * cols + i % out % cols);
  }
};

/// State of each solved output: value and rest of act(x w^T + b), and the sum of |terms|.
template <class T>
State solve_layer(const Problem& p, const std::vector<double>& x, const std::vector<double>& w) {
  const Extents e(p);
  const bool has_act = p.op.params.find("act") != nullptr;
  const std::string act = has_act ? p.op.params.word("act") : "none";
  const auto in = static_cast<std::size_t>(e.in);
  std::vector<double> bias(static_cast<std::size_t>(e.cols), 0.0);
  if (p.op.params.integer_or("bias", 0) != 0) {
    visit_computed(output_dtype(p.op), [&]<class B>(std::type_identity<B>) {
      bias = widened(p.input<B>(2).first(static_cast<std::size_t>(e.cols)));
    });
  }
  State state(static_cast<std::size_t>(e.rows * e.cols) * solved_numbers);
  for_each_dot<T>(x, w, in, [&](std::int64_t b, std::int64_t o, const Dot& d) {
    const double added = bias[static_cast<std::size_t>(o)];
    const auto sum = static_cast<Wider<T>>(d.total() + added);
    const Wider<T> y = activated(act, sum);
    const auto value = static_cast<double>(y);
    set_solved(state, static_cast<std::size_t>(b * e.cols + o), value,
               static_cast<double>(y - value), d.magnitude + std::abs(added));
  });
  return state;
}

template <class T>
State solve_linear(const Problem& p) {
  const Extents e(p);
  const auto values = [&](std::size_t factor, std::int64_t lines) {
    std::vector<T> storage;
    const TensorSpec& spec = p.op.signature.inputs[factor];
    return widened(first_lines(p.input<T>(factor), spec, lines, storage));
  };
  return solve_layer<T>(p, values(0, e.rows), values(1, e.cols));
}

/// Values of block-scaled factors are exact in double, and so are their products: the same rule.
State solve_block_linear(const Problem& p) {
  const Extents e(p);
  const auto scales = p.op.signature.inputs.size() - 2;
  const auto in = static_cast<std::size_t>(e.in);
  const auto values = [&](std::size_t operand, std::int64_t rows) {
    return block_values(p.op.format, p.input<std::uint8_t>(operand),
                        p.input<std::uint8_t>(scales + operand),
                        static_cast<std::size_t>(rows) * in);
  };
  return solve_layer<float>(p, values(0, e.rows), values(1, e.cols));
}

void linear_values(const Problem& p, std::span<const double> state, std::int64_t first,
                   Values out) {
  const Extents e(p);
  std::int64_t row = first / e.out % e.rows;
  std::int64_t col = first % e.out;  // of the whole output; `solved` is within the period
  std::int64_t solved = col % e.cols;
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    take_solved(state, static_cast<std::size_t>(row * e.cols + solved), out, i);
    if (++solved == e.cols) solved = 0;
    if (++col == e.out) {
      col = solved = 0;
      if (++row == e.rows) row = 0;
    }
  }
}

/// State of each solved output: the i32, which wraps. Products are below 2^14, so doubles hold
/// their sums exactly.
State solve_integer_linear(const Problem& p) {
  const Extents e(p);
  const bool relu = p.op.params.word("act") == "relu";
  const auto in = static_cast<std::size_t>(e.in);
  const auto x = widened(p.input<std::int8_t>(0).first(static_cast<std::size_t>(e.rows) * in));
  const auto w = widened(p.input<std::int8_t>(1).first(static_cast<std::size_t>(e.cols) * in));
  std::span<const std::int32_t> bias;
  if (p.op.params.integer("bias") != 0) bias = p.input<std::int32_t>(2);
  State state(static_cast<std::size_t>(e.rows * e.cols));
  for_each_dot<std::int8_t>(x, w, in, [&](std::int64_t b, std::int64_t o, const Dot& d) {
    auto sum = static_cast<std::int64_t>(d.value);
    if (!bias.empty()) sum += bias[static_cast<std::size_t>(o)];
    auto y = static_cast<std::int32_t>(sum);
    if (relu) y = std::max(y, 0);
    state[static_cast<std::size_t>(b * e.cols + o)] = as_state(y);
  });
  return state;
}

void integer_linear_bits(const Problem& p, std::span<const double> state, std::int64_t first,
                         std::span<std::byte> out) {
  const Extents e(p);
  for (std::size_t i = 0; i < out.size() / sizeof(std::int32_t); ++i) {
    const double number = state[e.solved(first + static_cast<std::int64_t>(i))];
    store(out, i, from_state<std::int32_t>(number));
  }
}

Reference linear(const OpInstance& op) {
  if (is_block_scaled(op.format)) return {.solve = solve_block_linear, .values = linear_values};
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) -> Reference {
    if constexpr (std::is_integral_v<T>) {
      return {.solve = solve_integer_linear, .bits = integer_linear_bits};
    } else {
      return {.solve = solve_linear<T>, .values = linear_values};
    }
  });
}

// --- y[b] = a[b] b[b] ----------------------------------------------------------------------------

template <class T>
State solve_batched(const Problem& p) {
  const auto batch = p.op.params.integer("batch");
  const auto m = static_cast<std::size_t>(p.op.params.integer("m"));
  const auto n = static_cast<std::size_t>(p.op.params.integer("n"));
  const auto k = static_cast<std::size_t>(p.op.params.integer("k"));
  State state(static_cast<std::size_t>(batch) * m * n * solved_numbers);
  std::vector<double> columns(n * k);
  for (std::size_t matrix = 0; matrix < static_cast<std::size_t>(batch); ++matrix) {
    const auto a = widened(p.input<T>(0).subspan(matrix * m * k, m * k));
    const auto b = p.input<T>(1).subspan(matrix * k * n, k * n);
    for (std::size_t l = 0; l < k; ++l) {
      for (std::size_t j = 0; j < n; ++j) columns[j * k + l] = wide(b[l * n + j]);
    }
    for_each_dot<T>(a, columns, k, [&](std::int64_t i, std::int64_t j, const Dot& d) {
      set_solved(state,
                 (matrix * m + static_cast<std::size_t>(i)) * n + static_cast<std::size_t>(j),
                 d.value, d.rest, d.magnitude);
    });
  }
  return state;
}

Reference batched_matmul(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_batched<T>, .values = solved_values};
  });
}

constexpr ReferenceRow rows[] = {
    {"linear", linear},
    {"linear_dx", linear},
    {"linear_dw", linear},
    {"batched_matmul", batched_matmul},
};

}  // namespace

std::span<const ReferenceRow> matmul_references() { return rows; }

}  // namespace assay::reference
