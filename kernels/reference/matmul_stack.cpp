#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/reference/activations.h"
#include "kernels/reference/dot.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/state_layout.h"

namespace assay::reference {
namespace {

/// Outputs of one layer: the values, and how far an implementation within the bounds may differ
/// from them.
struct Layer {
  std::vector<double> value;
  std::vector<double> rest;  // used for the last layer only, which the oracle rounds
  std::vector<double> error;
};

struct Activation {
  std::string_view name;
  double slope = 1;           // upper bound
  double argument_units = 0;  // C: the activation's own error, in unit roundoffs of its argument

  explicit Activation(const std::string& act) : name(act) {
    if (act.starts_with("gelu")) {
      slope = 1.13;
      argument_units = 16;
    }
  }
};

/// Error bound of one output of a layer. E is the error of h, and S = sum |w| (|h| + E) + |b|
/// bounds the magnitudes in an implementation. Its sum errs by sum |w| E of the inputs and by L u S
/// of its own additions. The activation enlarges both by at most its slope, and adds C u of the
/// computed sum, which is at most (1 + L u) S. Higham: "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., 2002, sections 3.1 and 3.3.
/// If not all bits of factors are used, each product errs by at most `cut` of itself in addition.
double output_error(const ErrorDot& sums, double bias, const Activation& act, double terms,
                    double u, double cut) {
  const double magnitude = (1 + cut) * sums.magnitude + std::abs(bias);
  return act.slope * (sums.from_inputs + cut * sums.magnitude + terms * u * magnitude) +
         act.argument_units * u * (1 + terms * u) * magnitude;
}

/// Error of one addition. Matrix units for 16-bit floats and tf32 truncate, twice the error of
/// rounding, and those with 4 products a step truncate once more each step
/// (harness/oracle/accumulation.cpp). The reference does not know which hardware runs the op.
double addition_error(Format format) {
  const double u = unit_roundoff(accumulator(format));
  return accumulator(format) == format ? u : 2.5 * u;
}

/// Error of a product whose factors are rounded, or cut, to the bits of the format: 2 v + v^2.
double cut_error(Format format) {
  const double v = 2 * unit_roundoff(format);
  return format.product() == nullptr ? 0 : 2 * v + v * v;
}

template <class T>
Layer next_layer(const Problem& p, const Layer& before, std::size_t fan_in, std::size_t weight,
                 bool last) {
  const auto batch = p.op.params.integer("batch");
  const auto width = p.op.params.integer("width");
  const bool has_bias = p.op.params.integer("bias") != 0;
  const Activation act(p.op.params.word("act"));
  const double u = addition_error(p.op.format);
  const double cut = cut_error(p.op.format);
  const DType out = output_dtype(p.op);
  const double u_out = unit_roundoff(out);
  const double smallest =  // twice half of the smallest subnormal
      std::ldexp(1.0, smallest_exponent(out) - precision_bits(out) + 1);
  const auto terms = static_cast<double>(fan_in + (has_bias ? 1 : 0));
  const auto w = widened(p.input<T>(weight));
  std::vector<double> bias(static_cast<std::size_t>(width), 0.0);
  if (has_bias) bias = widened(p.input<T>(weight + 1));

  const std::size_t outputs = static_cast<std::size_t>(batch * width);
  Layer layer{std::vector<double>(outputs), std::vector<double>(outputs),
              std::vector<double>(outputs)};
  for_each_dot<T>(before.value, w, fan_in, [&](std::int64_t b, std::int64_t o, const Dot& d) {
    const auto at = static_cast<std::size_t>(b * width + o);
    const std::size_t row = static_cast<std::size_t>(b) * fan_in;
    const double added = bias[static_cast<std::size_t>(o)];
    const Wider<T> y = activated(act.name, static_cast<Wider<T>>(d.total() + added));
    const auto value = static_cast<double>(y);
    const ErrorDot sums = error_dot(&w[static_cast<std::size_t>(o) * fan_in], &before.value[row],
                                    &before.error[row], fan_in);
    layer.error[at] = output_error(sums, added, act, terms, u, cut);
    if (last) {
      layer.value[at] = value;
      layer.rest[at] = static_cast<double>(y - value);
    } else {
      // Rounded to the dtype, as the op defines, here and in the implementation.
      layer.value[at] = wide(rounded<T>(value));
      layer.error[at] += 2 * u_out * (std::abs(value) + layer.error[at]) + smallest;
    }
  });
  return layer;
}

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
  state.reserve(layer.value.size() * solved_numbers);
  for (std::size_t i = 0; i < layer.value.size(); ++i) {
    state.insert(state.end(), {layer.value[i], layer.rest[i], layer.error[i] / u});
  }
  return state;
}

Reference linear_stack(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) -> Reference {
    return {.solve = solve_stack<T>, .values = solved_values};
  });
}

constexpr ReferenceRow rows[] = {
    {"linear_stack", linear_stack},
};

}  // namespace

std::span<const ReferenceRow> matmul_stack_references() { return rows; }

}  // namespace assay::reference
