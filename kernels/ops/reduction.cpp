#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/ops/families.h"
#include "kernels/ops/function_errors.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

/// Reduces one tensor to one element, or (outer, n, inner) along its axis n to (outer, inner).
Signature reduced(DType dtype, const Params& params) {
  const TensorSpec x = array_of(dtype, params);
  Signature s{.inputs = {x}, .outputs = {{dtype, {1}}}};
  if (x.axis) s.outputs[0].shape = {x.shape.front(), x.shape.back()};
  s.terms = x.line_elements();
  return with_work(std::move(s), as_double(x.elements()));
}

/// Reduces the products of two tensors to one element.
Signature dot_signature(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  Signature s{.inputs = std::vector<TensorSpec>(2, {dtype, {n}}), .outputs = {{dtype, {1}}}};
  s.terms = n;
  s.factors_per_term = 2;
  return with_work(std::move(s), as_double(n) * 2);
}

/// Signature of a norm: its terms are squares of the input's elements.
Signature norm_signature(DType dtype, const Params& params) {
  Signature s = reduced(dtype, params);
  s.factors_per_term = 2;
  s.flops *= 2;
  return s;
}

Signature index_signature(DType dtype, const Params& params) {
  Signature s = reduced(dtype, params);
  s.outputs[0].dtype = DType::i64;
  const double flops = s.flops;
  return with_work(std::move(s), flops);
}

constexpr Rule mean_rule{.oracle = Oracle::sum_bound, .extra = 2};
// The square root, and the scale that a norm of huge or tiny numbers needs.
constexpr Rule norm_rule{.oracle = Oracle::relative_bound, .per_term = 0.5, .extra = 2};

// Largest ratios that were measured in any order: docs/oracles.md.
constexpr double unbiased_products = 4;

Passes summed(DType dtype, const Params& params) {
  Passes passes =
      with_real_data(sums(), of_mean_one_half(dtype, params.integer("n"), 1), unbiased_sums);
  if (!is_floating(dtype)) return passes;
  passes = with_equal_terms(std::move(passes), dtype, params.integer("n"), 1, sum_rule);
  const TensorSpec x = reduced(dtype, params).inputs[0];
  passes = with_lone_terms(std::move(passes), exact_rule);
  passes = with_specials_in_turns(std::move(passes), x);
  passes = with_overflow(with_all_sizes_in_turns(std::move(passes), x, sum_rule), dtype);
  passes = with_signs_in_turns(std::move(passes), {1, 1});  // which cancel
  if (dtype == DType::f16) insert_before_last(passes, partly_beyond_f16(params.integer("n")));
  return with_few_terms_in_turns(std::move(passes), x, sum_rule);
}

Passes averaged(DType dtype, const Params& params) {
  // A sum without error times the rounded reciprocal of its count.
  const Rule quotient_rule = function_rule({.ulps = 1.5});
  Passes passes = with_lone_terms(
      with_real_data(sum_then_operation(mean_rule), uniform({-0.5, 1.5}), unbiased_sums),
      quotient_rule);
  passes[0].rule = quotient_rule;
  const TensorSpec x = reduced(dtype, params).inputs[0];
  passes = with_equal_terms(std::move(passes), dtype, params.integer("n"), 1, mean_rule);
  // Sums beyond f16 are kept in f32, and means are within it.
  const Pass large{"large", {uniform({-0x1p14, 0x1.8p15})}, mean_rule};
  if (dtype == DType::f16) insert_before_last(passes, large);
  passes = with_all_sizes_in_turns(with_specials_in_turns(std::move(passes), x), x, mean_rule);
  return with_few_terms_in_turns(std::move(passes), x, mean_rule);
}

/// Products of which none is as large as the largest of both factors, and products beyond f16 that
/// cancel.
Passes of_large_factors(DType dtype) {
  const double large = std::ldexp(1.0, largest_exponent(dtype) - 1);
  const auto at_borders = [&](std::int64_t turn) {
    return Data{
        .distribution = Distribution::at_borders, .range = {large, large * 1.5}, .turn = turn};
  };
  Passes passes{Pass{"apart", {at_borders(0), at_borders(1)}, sum_rule}};
  constexpr double factor = 300;
  const Data signs{.distribution = Distribution::alternating, .range = {factor, factor}};
  const Pass beyond_f16{"large", {signs, uniform({factor, factor})}, sum_rule};
  if (dtype == DType::f16) passes.push_back(beyond_f16);
  return passes;
}

Passes multiplied(DType dtype, const Params& params) {
  Passes passes =
      with_real_data(sums(), of_mean_one_half(dtype, params.integer("n"), 2), unbiased_dots);
  const Data neighbours_differ{.distribution = Distribution::alternating, .range = {1, 2}};
  passes = with_equal_terms(std::move(passes), dtype, params.integer("n"), 2, sum_rule);
  const TensorSpec x = dot_signature(dtype, params).inputs[0];
  passes = with_lone_terms(std::move(passes), one_product_rule);
  passes = with_specials_in_turns(std::move(passes), x);
  for (const std::size_t factor : {0, 1}) {
    passes = with_all_sizes_of_one(std::move(passes), x, sum_rule, uniform({0.25, 0.5}), factor);
  }
  for (Pass& pass : of_large_factors(dtype)) insert_before_last(passes, std::move(pass));
  return with_few_terms_in_turns(std::move(passes), x, sum_rule, neighbours_differ);
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
  if (dtype != DType::bf16) {
    passes.push_back(Pass{"subnormal", {scaled(0x1p-135, 0x1p-1060)}, norm_rule});
  }
  return passes;
}

Passes normed(DType dtype, const Params& params) {
  // Subnormal norms of bf16 would be rounded twice.
  const Specials specials = dtype == DType::bf16 ? Specials::nonfinite : Specials::all;
  Passes passes = with_real_data(sum_then_operation(norm_rule, specials),
                                 {.distribution = Distribution::roots}, unbiased_squares(dtype));
  // The scale of a line may be its largest element, by which others are divided.
  passes[0].data = {{.distribution = Distribution::whole_powers}};
  for (Pass& pass : beyond_squares(dtype, params.integer("n")))
    insert_before_last(passes, std::move(pass));
  passes = with_equal_terms(std::move(passes), dtype, params.integer("n"), 1, norm_rule);
  Rule lone = norm_rule;
  lone.roundings = 1;
  const TensorSpec x = reduced(dtype, params).inputs[0];
  passes = with_lone_terms(std::move(passes), lone);
  passes = with_specials_in_turns(std::move(passes), x);
  passes = with_overflow(with_all_sizes_in_turns(std::move(passes), x, norm_rule), dtype);
  return with_few_terms_in_turns(std::move(passes), x, norm_rule);
}

/// Signature of a logarithm of a sum: maximum, subtraction, exponential and sum.
Signature log_sum_signature(DType dtype, const Params& params) {
  Signature s = reduced(dtype, params);
  s.flops *= 4;
  return s;
}

Passes log_sums(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  Rule rule{.oracle = Oracle::running_bound, .ulps = declared_error("exp").ulps};
  // As of equal terms: the bound of longer chains would let most terms be left out.
  constexpr std::int64_t longest_chain = std::int64_t{1} << 16;
  rule.roundings = as_double(std::min(n, longest_chain));
  Rule rule_of_two = rule;
  rule_of_two.roundings = 2;
  // Overflow without a shift: exp(100) is infinite in f32, exp(800) in f64.
  const Data large_logits{.range = {-100, 100}, .range_f64 = Range{-800, 800}};
  // Below any number at which a maximum may begin.
  const Data low_logits =
      uniform(dtype == DType::f16 ? Range{-6e4 - 256, -6e4 + 256} : Range{-2e30, -1e30});
  // Show the precision of their exponentials, however many others there are.
  const auto two_logits = [&](double least) {
    const Data data{.distribution = Distribution::lone, .range = {least, 121}, .run = (n + 1) / 2};
    return Pass{"two_logits", {data}, rule_of_two};
  };
  // Whose sum is about one: a result of few bits shows it.
  const double log_n = std::log(as_double(n));
  const Data around_one = uniform({-1 - log_n, -log_n});
  Passes passes{Pass{"large_logits", {large_logits}, rule},
                Pass{"low_logits", {low_logits}, rule},
                two_logits(119),
                two_logits(101),
                Pass{"far_logits", {uniform({-3e4, 3e4})}, rule},
                Pass{"around_one", {around_one}, rule},
                Pass{"real_data", {uniform({-10, 10})}, rule}};
  const TensorSpec x = reduced(dtype, params).inputs[0];
  passes = with_extremes_in_turns(with_specials(std::move(passes), Specials::all), x, true, false);
  passes = with_all_sizes_in_turns(with_specials_in_turns(std::move(passes), x), x, rule);
  return with_nan_in_turns(with_infinities_in_turns(std::move(passes), x, true), x);
}

/// Excludes subnormal factors, whose error is not relative.
Passes products(DType dtype, const Params& params) {
  Passes passes = with_real_data(with_specials(finite_products(), Specials::nonfinite),
                                 {.distribution = Distribution::growing}, unbiased_products);
  if (!is_floating(dtype)) {
    // Powers of two that leave nothing, and a zero somewhere.
    const Data twos{.distribution = Distribution::constant, .needle = 2};
    const Data zero{.distribution = Distribution::needle, .range = {1, 4}};
    insert_before_last(passes, Pass{"even", {twos}, exact_rule});
    insert_before_last(passes, Pass{"zero", {zero}, exact_rule});
    return passes;
  }
  passes = with_specials_in_turns(std::move(passes), reduced(dtype, params).inputs[0]);
  for (const std::int64_t turn : {0, 1}) {
    const Data two{.distribution = Distribution::two_powers, .turn = turn};
    insert_before_last(passes, Pass{"two_powers", {two}, exact_rule});
  }
  return with_overflow(with_signs_in_turns(std::move(passes), {1, 1}), dtype);
}

/// Includes NaN and infinities, which have no defined place in an order.
template <bool greatest>
Passes extremes(DType dtype, const Params& params) {
  const TensorSpec x = reduced(dtype, params).inputs[0];
  Passes passes = with_extremes_in_turns(with_specials(order(), Specials::all), x, greatest,
                                         dtype == DType::u8);
  passes = with_near_ties_in_turns(std::move(passes), x);
  if (!is_floating(dtype)) return passes;
  passes = with_specials_in_turns(std::move(passes), x);
  return with_nan_in_turns(with_infinities_in_turns(std::move(passes), x, greatest), x);
}

}  // namespace

std::vector<Op> reduction_ops() {
  // Sums, products and norms are defined for no elements too.
  const Op sum = make_op({"sum", "y = sum of x[i]; integers wrap", signed_numbers()}, {size("n")},
                         reduced, summed);
  const Op prod = make_op({.name = "prod",
                           .formula = "y = product of x[i]; integers wrap",
                           .formats = signed_numbers(),
                           .neutral = Neutral::one},
                          {size("n")}, reduced, products);
  const Op mean =
      make_op({"mean", "y = sum of x[i] / n", floats()}, {extent("n")}, reduced, averaged);
  const Op least = make_op({.name = "reduce_min",
                            .formula = "y = least x[i]",
                            .formats = numbers(),
                            .neutral = Neutral::greatest},
                           {extent("n")}, reduced, extremes<false>);
  const Op greatest = make_op({.name = "reduce_max",
                               .formula = "y = greatest x[i]",
                               .formats = numbers(),
                               .neutral = Neutral::least},
                              {extent("n")}, reduced, extremes<true>);
  const Op argmax = make_op({.name = "argmax",
                             .formula = "y = the lowest i of the greatest x[i]",
                             .formats = numbers(),
                             .neutral = Neutral::least},
                            {extent("n")}, index_signature, extremes<true>);
  const Op argmin = make_op({.name = "argmin",
                             .formula = "y = the lowest i of the least x[i]",
                             .formats = numbers(),
                             .neutral = Neutral::greatest},
                            {extent("n")}, index_signature, extremes<false>);
  const Op norm = make_op({"norm2", "y = square root of the sum of x[i]^2", floats()}, {size("n")},
                          norm_signature, normed);
  const Op logsumexp = make_op({"logsumexp", "y = log of the sum of e^x[i]", floats()},
                               {extent("n")}, log_sum_signature, log_sums);
  return with_views({
      sum,
      prod,
      mean,
      least,
      greatest,
      argmax,
      argmin,
      make_op({"dot", "y = sum of a[i] b[i]", floats()}, {size("n")}, dot_signature, multiplied),
      norm,
      logsumexp,
      along_axis(sum, "sum_axis", "y[o][i] = sum of x[o][.][i]; integers wrap"),
      along_axis(prod, "prod_axis", "y[o][i] = product of x[o][.][i]; integers wrap"),
      along_axis(mean, "mean_axis", "y[o][i] = sum of x[o][.][i] / n"),
      along_axis(least, "reduce_min_axis", "y[o][i] = least x[o][.][i]"),
      along_axis(greatest, "reduce_max_axis", "y[o][i] = greatest x[o][.][i]"),
      along_axis(argmax, "argmax_axis", "y[o][i] = the lowest a of the greatest x[o][a][i]"),
      along_axis(argmin, "argmin_axis", "y[o][i] = the lowest a of the least x[o][a][i]"),
      along_axis(norm, "norm2_axis", "y[o][i] = square root of the sum of x[o][.][i]^2"),
      along_axis(logsumexp, "logsumexp_axis", "y[o][i] = log of the sum of e^x[o][.][i]"),
  });
}

}  // namespace assay
