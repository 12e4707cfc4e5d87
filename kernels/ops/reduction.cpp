#include <algorithm>
#include <cmath>
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
Op of_any(const OpRow& row, PassesOf passes) {
  return make_op(row, {size("n")}, reduced<1>, passes);
}

constexpr Rule mean_rule{.oracle = Oracle::sum_bound, .extra = 2};
// The square root, and the scale that a norm of huge or tiny numbers needs.
constexpr Rule norm_rule{.oracle = Oracle::relative_bound, .per_term = 0.5, .extra = 2};

// Largest ratios that were measured in any order: docs/oracles.md.
constexpr double unbiased_dots = 1;
constexpr double unbiased_products = 4;

Passes summed(DType dtype, const Params& params) {
  Passes passes =
      with_real_data(sums(), of_mean_one_half(dtype, params.integer("n"), 1), unbiased_sums);
  if (!is_floating(dtype)) return passes;
  passes = with_equal_terms(std::move(passes), dtype, params.integer("n"), 1, sum_rule);
  return with_lone_terms(std::move(passes), exact_rule);
}

Passes averaged(DType dtype, const Params& params) {
  // A sum without error times the rounded reciprocal of its count.
  const Rule quotient_rule = function_rule({.ulps = 1.5});
  Passes passes = with_lone_terms(
      with_real_data(sum_then_operation(mean_rule), uniform({-0.5, 1.5}), unbiased_sums),
      quotient_rule);
  passes[0].rule = quotient_rule;
  return with_equal_terms(std::move(passes), dtype, params.integer("n"), 1, mean_rule);
}

Passes multiplied(DType dtype, const Params& params) {
  Passes passes =
      with_real_data(sums(), of_mean_one_half(dtype, params.integer("n"), 2), unbiased_dots);
  const Data neighbours_differ{.distribution = Distribution::alternating, .range = {1, 2}};
  passes = with_equal_terms(std::move(passes), dtype, params.integer("n"), 2, sum_rule);
  passes = with_lone_terms(std::move(passes), one_product_rule);
  return with_few_terms_in_turns(std::move(passes), sum_rule, neighbours_differ);
}

/// Numbers whose squares overflow the accumulator, or vanish in it. Of f16, whose do neither,
/// numbers with squares beyond its own range.
Passes beyond_squares(DType dtype, std::int64_t n) {
  if (dtype == DType::f16) {
    const double most =
        std::min(2048.0, 0x1p15 / std::sqrt(as_double(std::max<std::int64_t>(1, n))));
    return {Pass{"huge", {uniform({-most, most})}, norm_rule}};
  }
  const auto scaled = [](double f32, double f64) {
    return Data{.range = {-f32, f32}, .range_f64 = Range{-f64, f64}};
  };
  Passes passes{Pass{"huge", {scaled(0x1p100, 0x1p800)}, norm_rule},
                Pass{"tiny", {scaled(0x1p-100, 0x1p-800)}, norm_rule}};
  // Norms of bf16 would be rounded twice there.
  if (dtype != DType::bf16) {
    passes.push_back(Pass{"subnormal", {scaled(0x1p-135, 0x1p-1060)}, norm_rule});
  }
  return passes;
}

/// Squares of numbers of 8 bits are so few that their roundings have a bias, which grows with n.
Passes normed(DType dtype, const Params& params) {
  const double unbiased = dtype == DType::bf16 ? 0x1p-8 : unbiased_dots;
  Passes passes = with_real_data(sum_then_operation(norm_rule),
                                 {.distribution = Distribution::roots}, unbiased);
  for (Pass& pass : beyond_squares(dtype, params.integer("n")))
    insert_before_last(passes, std::move(pass));
  passes = with_equal_terms(std::move(passes), dtype, params.integer("n"), 1, norm_rule);
  Rule lone = norm_rule;
  lone.roundings = 1;
  passes = with_lone_terms(std::move(passes), lone);
  return with_few_terms_in_turns(std::move(passes), norm_rule);
}

/// Excludes subnormal factors, whose error is not relative.
Passes products(DType dtype, const Params& /*params*/) {
  Passes passes = with_real_data(with_specials(finite_products(), Specials::nonfinite),
                                 {.distribution = Distribution::growing}, unbiased_products);
  return is_floating(dtype) ? with_signs_in_turns(std::move(passes), {1, 1}) : passes;
}

/// Includes NaN and infinities, which have no defined place in an order.
template <bool greatest>
Passes extremes(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  Passes passes = with_extremes_in_turns(with_specials(order(), Specials::all), n, greatest,
                                         dtype == DType::u8);
  return is_floating(dtype) ? with_nan_in_turns(std::move(passes), n) : passes;
}

}  // namespace

std::vector<Op> reduction_ops() {
  return {
      of_any({"sum", "y = sum of x[i]; integers wrap", signed_numbers()}, summed),
      of_any({.name = "prod",
              .formula = "y = product of x[i]; integers wrap",
              .formats = signed_numbers(),
              .neutral = Neutral::one},
             products),
      make_op({"mean", "y = sum of x[i] / n", floats()}, {extent("n")}, reduced<1>, averaged),
      make_op({.name = "reduce_min",
               .formula = "y = least x[i]",
               .formats = numbers(),
               .neutral = Neutral::greatest},
              {extent("n")}, reduced<1>, extremes<false>),
      make_op({.name = "reduce_max",
               .formula = "y = greatest x[i]",
               .formats = numbers(),
               .neutral = Neutral::least},
              {extent("n")}, reduced<1>, extremes<true>),
      make_op({.name = "argmax",
               .formula = "y = the lowest i of the greatest x[i]",
               .formats = numbers(),
               .neutral = Neutral::least},
              {extent("n")}, index_signature, extremes<true>),
      make_op({"dot", "y = sum of a[i] b[i]", floats()}, {size("n")}, reduced<2>, multiplied),
      make_op({"norm2", "y = square root of the sum of x[i]^2", floats()}, {size("n")},
              norm_signature, normed),
  };
}

}  // namespace assay
