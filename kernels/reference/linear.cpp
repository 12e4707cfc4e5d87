#include <algorithm>
#include <cmath>

#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

std::vector<double> widen(const auto& elements) {
  std::vector<double> wide(elements.size());
  std::transform(elements.begin(), elements.end(), wide.begin(),
                 [](auto x) { return static_cast<double>(static_cast<float>(x)); });
  return wide;
}

/// State: y and sum of |x_i w_i| + |bias| alternating, for every output. Products of two f32 are
/// exact in double; a sum of K of them errs by at most K 2^-53 of its magnitude, 2^-29 of the
/// bound.
template <class T>
State solve_linear(const Problem& p) {
  const std::int64_t batch = p.op.params.integer("batch");
  const std::int64_t in = p.op.params.integer("in");
  const std::int64_t out = p.op.params.integer("out");
  const bool relu = p.op.params.word("act") == "relu";
  const std::vector<double> x = widen(p.input<T>(0));
  const std::vector<double> w = widen(p.input<T>(1));
  std::vector<double> bias(static_cast<std::size_t>(out), 0.0);
  if (p.op.params.integer("bias") != 0) bias = widen(p.input<T>(2));

  State state(static_cast<std::size_t>(batch * out) * 2);
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t o = 0; o < out; ++o) {
      const double* x_row = &x[static_cast<std::size_t>(b * in)];
      const double* w_row = &w[static_cast<std::size_t>(o * in)];
      double sum = bias[static_cast<std::size_t>(o)];
      double magnitude = std::abs(sum);
#pragma omp simd reduction(+ : sum, magnitude)
      for (std::int64_t i = 0; i < in; ++i) {
        const double product = x_row[i] * w_row[i];
        sum += product;
        magnitude += std::abs(product);
      }
      // relu is monotone and never enlarges an error: the bound of the sum holds for it.
      if (relu && sum < 0) sum = 0;
      double* pair = &state[static_cast<std::size_t>(b * out + o) * 2];
      pair[0] = sum;
      pair[1] = magnitude;
    }
  }
  return state;
}

void linear_values(const Problem&, std::span<const double> state, std::int64_t first, Values out) {
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const std::size_t at = (static_cast<std::size_t>(first) + i) * 2;
    out.value[i] = state[at];
    out.rest[i] = 0;
    out.scale[i] = state[at + 1];
  }
}

Reference linear(const OpInstance& op) {
  if (op.dtype == DType::f32) return {.solve = solve_linear<float>, .values = linear_values};
  return {.solve = solve_linear<BFloat16>, .values = linear_values};
}

constexpr ReferenceRow rows[] = {
    {"linear", linear},
};

}  // namespace

std::span<const ReferenceRow> linear_references() { return rows; }

}  // namespace assay::reference
