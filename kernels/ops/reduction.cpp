#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

/// Reduces one tensor, or the products of two, to one element.
template <int Inputs>
Signature reduced(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  Signature s{.inputs = std::vector<TensorSpec>(Inputs, {dtype, {n}}), .outputs = {{dtype, {1}}}};
  s.terms = n;
  s.factors_per_term = Inputs;
  return with_work(std::move(s), as_double(n) * Inputs);
}

/// Signature of a norm: its terms are squares of the input's elements.
Signature norm_signature(DType dtype, const Params& params) {
  Signature s = reduced<1>(dtype, params);
  s.factors_per_term = 2;
  s.flops *= 2;
  return s;
}

Signature index_signature(DType dtype, const Params& params) {
  Signature s = reduced<1>(dtype, params);
  s.outputs = {{DType::i64, {1}}};
  const double flops = s.flops;
  return with_work(std::move(s), flops);
}

/// Allows n = 0, for ops defined on an empty input.
Op of_any(const OpRow& row, Passes (*passes)(DType, const Params&)) {
  return make_op(row, {size("n")}, reduced<1>, passes);
}

constexpr Rule mean_rule{.oracle = Oracle::sum_bound, .extra = 2};
constexpr Rule norm_rule{.oracle = Oracle::relative_bound, .per_term = 0.5, .extra = 2};

// Largest ratios that were measured in any order: docs/oracles.md.
constexpr double unbiased_dots = 1;
constexpr double unbiased_products = 4;

Passes summed(DType dtype, const Params& params) {
  return with_real_data(sums(), of_mean_one_half(dtype, params.integer("n"), 1), unbiased_sums);
}

Passes averaged(DType /*dtype*/, const Params& /*params*/) {
  return with_real_data(sum_then_operation(mean_rule), uniform({-0.5, 1.5}), unbiased_sums);
}

Passes multiplied(DType dtype, const Params& params) {
  return with_real_data(sums(), of_mean_one_half(dtype, params.integer("n"), 2), unbiased_dots);
}

/// Squares of numbers of 8 bits are so few that their roundings have a bias, which grows with n.
Passes normed(DType dtype, const Params& /*params*/) {
  const double unbiased = dtype == DType::bf16 ? 0x1p-8 : unbiased_dots;
  return with_real_data(sum_then_operation(norm_rule), {.distribution = Distribution::roots},
                        unbiased);
}

/// Excludes subnormal factors, whose error is not relative.
Passes products(DType /*dtype*/, const Params& /*params*/) {
  return with_real_data(with_specials(finite_products(), Specials::nonfinite),
                        {.distribution = Distribution::growing}, unbiased_products);
}

/// Includes NaN and infinities, which have no defined place in an order. A launch shows only the
/// elements around the extreme: small tensors get several launches, each with its own extreme.
Passes extremes(DType /*dtype*/, const Params& params) {
  Passes passes = with_specials(order(), Specials::all);
  const std::int64_t n = params.integer("n");
  const Pass last = passes.back();
  if (n <= 1 << 16)
    passes.insert(passes.end(), static_cast<std::size_t>(std::min(n - 1, std::int64_t{8})), last);
  return passes;
}

}  // namespace

std::vector<Op> reduction_ops() {
  return {
      of_any({"sum", "y = sum of x[i]; integers wrap", signed_numbers()}, summed),
      of_any({"prod", "y = product of x[i]; integers wrap", signed_numbers()}, products),
      make_op({"mean", "y = sum of x[i] / n", floats()}, {extent("n")}, reduced<1>, averaged),
      make_op({"reduce_min", "y = least x[i]", numbers()}, {extent("n")}, reduced<1>, extremes),
      make_op({"reduce_max", "y = greatest x[i]", numbers()}, {extent("n")}, reduced<1>, extremes),
      make_op({"argmax", "y = the lowest i of the greatest x[i]", numbers()}, {extent("n")},
              index_signature, extremes),
      make_op({"dot", "y = sum of a[i] b[i]", floats()}, {size("n")}, reduced<2>, multiplied),
      make_op({"norm2", "y = square root of the sum of x[i]^2", floats()}, {size("n")},
              norm_signature, normed),
  };
}

}  // namespace assay
