#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/reference/activations.h"
#include "kernels/reference/dot.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

/// What is known of the outputs of one layer: the values, and by how much an implementation that
/// obeys the bounds may differ from them.
struct Layer {
  std::vector<double> value;
  std::vector<double> rest;  // of the last layer alone, which the oracle rounds
  std::vector<double> error;
};

struct Activation {
  std::string_view name;
  double slope = 1;           // at most
  double argument_units = 0;  // C: its own error, in unit roundoffs of its argument

  explicit Activation(const std::string& act) : name(act) {
    if (act.starts_with("gelu")) {
      slope = 1.13;
      argument_units = 16;
    }
  }
};

/// The bounds of one output of a layer. With S = sum |w| (|h| + E) + |b| over what an
/// implementation may have before it, E the error of h: its sum errs by sum |w| E of the inputs and
/// by L u S of its own additions; the activation enlarges both by at most its slope and adds C u S.
/// Higham: "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002, sections 3.1 and 3.3.
struct OutputError {
  double from_inputs = 0;  // sum |w| E
  double magnitude = 0;    // S

  double bound(const Activation& act, double terms, double u) const {
    return act.slope * (from_inputs + terms * u * magnitude) + act.argument_units * u * magnitude;
  }
};

OutputError error_of(const double* h, const double* error, const double* w, std::size_t n,
                     double bias) {
  double from_inputs = 0;
  double magnitude = 0;
#pragma omp simd reduction(+ : from_inputs, magnitude)
  for (std::size_t i = 0; i < n; ++i) {
    from_inputs += std::abs(w[i]) * error[i];
    magnitude += std::abs(w[i]) * (std::abs(h[i]) + error[i]);
  }
  return {from_inputs, magnitude + std::abs(bias)};
}

template <class T>
Layer next_layer(const Problem& p, const Layer& before, std::size_t fan_in, std::size_t weight,
                 bool last) {
  const auto batch = p.op.params.integer("batch");
  const auto width = p.op.params.integer("width");
  const bool has_bias = p.op.params.integer("bias") != 0;
  const Activation act(p.op.params.word("act"));
  const double u = unit_roundoff(accumulator(p.op));
  const double u_out = unit_roundoff(p.op.dtype);
  const double smallest =  // twice half of the smallest subnormal
      std::ldexp(1.0, smallest_exponent(p.op.dtype) - precision_bits(p.op.dtype) + 1);
  const auto terms = static_cast<double>(fan_in + (has_bias ? 1 : 0));
  const auto w = widened(p.input<T>(weight));
  std::vector<double> bias(static_cast<std::size_t>(width), 0.0);
  if (has_bias) bias = widened(p.input<T>(weight + 1));

  const std::size_t outputs = static_cast<std::size_t>(batch * width);
  Layer layer{std::vector<double>(outputs), std::vector<double>(outputs),
              std::vector<double>(outputs)};
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t o = 0; o < width; ++o) {
      const auto at = static_cast<std::size_t>(b * width + o);
      const double* h = &before.value[static_cast<std::size_t>(b) * fan_in];
      const double* error = &before.error[static_cast<std::size_t>(b) * fan_in];
      const double* row = &w[static_cast<std::size_t>(o) * fan_in];
      const double added = bias[static_cast<std::size_t>(o)];
      const auto sum = static_cast<Wider<T>>(dot<T>(h, row, fan_in).total() + added);
      const Wider<T> y = activated(act.name, sum);
      const auto value = static_cast<double>(y);
      layer.error[at] = error_of(h, error, row, fan_in, added).bound(act, terms, u);
      if (last) {
        layer.value[at] = value;
        layer.rest[at] = static_cast<double>(y - value);
      } else {
        // Rounded to the dtype, as the op defines: here, and by the implementation.
        layer.value[at] = wide(rounded<T>(value));
        layer.error[at] += 2 * u_out * (std::abs(value) + layer.error[at]) + smallest;
      }
    }
  }
  return layer;
}

constexpr std::size_t numbers = 3;

/// State of each output: value, rest, and the bound of its error in units of u.
template <class T>
State solve_stack(const Problem& p) {
  const auto layers = p.op.params.integer("layers");
  const std::size_t step = p.op.params.integer("bias") != 0 ? 2 : 1;
  Layer layer;
  layer.value = widened(p.input<T>(0));
  layer.error.assign(layer.value.size(), 0.0);
  auto fan_in = static_cast<std::size_t>(p.op.params.integer("in"));
  for (std::int64_t l = 0; l < layers; ++l) {
    layer =
        next_layer<T>(p, layer, fan_in, 1 + static_cast<std::size_t>(l) * step, l + 1 == layers);
    fan_in = static_cast<std::size_t>(p.op.params.integer("width"));
  }
  const double u = unit_roundoff(accumulator(p.op));
  State state;
  state.reserve(layer.value.size() * numbers);
  for (std::size_t i = 0; i < layer.value.size(); ++i) {
    state.insert(state.end(), {layer.value[i], layer.rest[i], layer.error[i] / u});
  }
  return state;
}

void stack_values(const Problem&, std::span<const double> state, std::int64_t first, Values out) {
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const double* at = &state[(static_cast<std::size_t>(first) + i) * numbers];
    out.value[i] = at[0];
    out.rest[i] = at[1];
    out.scale[i] = at[2];
  }
}

Reference linear_stack(const OpInstance& op) {
  return visit_dtype(op.dtype, []<class T>(std::type_identity<T>) -> Reference {
    return {.solve = solve_stack<T>, .values = stack_values};
  });
}

constexpr ReferenceRow rows[] = {
    {"linear_stack", linear_stack},
};

}  // namespace

std::span<const ReferenceRow> linear_stack_references() { return rows; }

}  // namespace assay::reference
