#include "kernels/ops/passes.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/ops/function_errors.h"

namespace assay {
namespace {

constexpr double f32_max = std::numeric_limits<float>::max();
constexpr double f64_max = std::numeric_limits<double>::max();

constexpr Data exact_sums{.distribution = Distribution::integers};
constexpr Data real{.distribution = Distribution::uniform, .range = {-1, 1}};

constexpr Rule exact{.oracle = Oracle::exact};
constexpr Rule moved{.oracle = Oracle::exact, .payloads = true};
constexpr Rule exact_any_zero{.oracle = Oracle::exact, .any_zero = true};
constexpr Rule sum_bound{.oracle = Oracle::sum_bound};
constexpr Rule plain_sum_bound{.oracle = Oracle::sum_bound, .plain_sums = true};

Rule function_bound(const Declared& error) {
  return {
      .oracle = Oracle::function_bound, .ulps = error.ulps, .argument_units = error.argument_units};
}

/// The slopes of gelu and of its tanh form stay below.
constexpr double gelu_slope = 1.13;

/// Layers amplify the relative error of what they are fed by sum |w h| / |sum w h|: sqrt K each for
/// signs in balance, after which a bound allows more than the result itself. So inputs are
/// positive, weights mostly, with rows that sum to about 1, and it is the biases of both signs that
/// give activations both of their sides.
std::vector<Data> stack_data(const Params& params, double input, double bias) {
  std::vector<Data> data{uniform({0, input})};
  auto fan_in = static_cast<double>(params.integer("in"));
  for (std::int64_t layer = 0; layer < params.integer("layers"); ++layer) {
    data.push_back(uniform({-0.5 / fan_in, 2.5 / fan_in}));
    if (params.integer("bias") != 0) data.push_back(uniform({-bias, bias}));
    fan_in = static_cast<double>(params.integer("width"));
  }
  return data;
}

/// What NaN, infinities, zeros and subnormal numbers lead to, by the rule of the real data: a pass
/// between the others. In the first input alone, or in all.
Passes with_specials(Passes passes, Specials specials, std::int64_t run = 0) {
  Pass special = passes.back();
  special.name = "special_values";
  special.rule.plain_sums = false;
  for (Data& data : special.data) {
    data.specials = specials;
    data.run = run;
  }
  passes.insert(passes.end() - 1, std::move(special));
  return passes;
}

Passes only_finite_sums(const Rule& real_rule) {
  return {Pass{"exact_data", {exact_sums}, exact}, Pass{"real_data", {real}, real_rule}};
}

Passes only_finite_products() {
  return {Pass{"exact_data", {{.distribution = Distribution::factors}}, exact},
          Pass{"real_data",
               {{.distribution = Distribution::near_one}},
               {.oracle = Oracle::relative_bound}}};
}

Passes judged_on(const Data& first, const Data& second, const Rule& rule) {
  return {Pass{"all_exponents", {first}, rule}, Pass{"real_data", {second}, rule}};
}

}  // namespace

Data any_exponent() { return stratified({-f32_max, f32_max}, {-f64_max, f64_max}); }

Data stratified(Range range, Range range_f64) {
  return {.distribution = Distribution::stratified, .range = range, .range_f64 = range_f64};
}

Data uniform(Range range) { return {.distribution = Distribution::uniform, .range = range}; }

Passes bit_for_bit() { return judged_on(any_exponent(), real, exact); }

Passes bit_for_bit_within(const Data& plain) { return judged_on(any_exponent(), plain, exact); }

Passes moves() { return judged_on(any_exponent(), real, moved); }

Passes bit_for_bit_any_zero() { return judged_on(any_exponent(), real, exact_any_zero); }

Passes order_of_two(bool any_zero) {
  const Rule rule = any_zero ? exact_any_zero : exact;
  return {Pass{"ties", {{.distribution = Distribution::few}}, rule},
          Pass{"real_data", {real}, rule}};
}

Passes choice_of_two() {
  const Data mask{.distribution = Distribution::small_integers, .range = {0, 1}};
  return {Pass{"all_exponents", {mask, any_exponent()}, moved},
          Pass{"real_data", {mask, real}, moved}};
}

Passes cast_passes() {
  const Data within{.distribution = Distribution::castable};
  const Data plain{.distribution = Distribution::small_integers, .range = {0, 127}};
  return {Pass{"all_exponents", {within}, exact}, Pass{"real_data", {plain}, exact}};
}

Passes function(const Declared& error, const Data& domain, const Data& plain) {
  return {Pass{"domain", {domain}, function_bound(error)},
          Pass{"real_data", {plain}, function_bound(error)}};
}

Passes function_of_two(const Declared& error, const Data& domain_a, const Data& domain_b,
                       const Data& plain_a, const Data& plain_b) {
  return {Pass{"domain", {domain_a, domain_b}, function_bound(error)},
          Pass{"real_data", {plain_a, plain_b}, function_bound(error)}};
}

Passes sums() { return with_specials(only_finite_sums(sum_bound), Specials::all); }

Passes running_sums() {
  Passes passes = sums();
  for (Data& data : passes[1].data) data.runs = 10;
  return passes;
}

Passes plain_sums() { return with_specials(only_finite_sums(plain_sum_bound), Specials::all); }

// Squares of subnormal numbers vanish, and with them a norm: it has no bound there.
Passes sum_then_operation(const Rule& real_rule) {
  return with_specials({Pass{"exact_data", {exact_sums}, function_bound({.ulps = 1})},
                        Pass{"real_data", {real}, real_rule}},
                       Specials::nonfinite);
}

// Of subnormal factors the error is not relative.
Passes products() { return with_specials(only_finite_products(), Specials::nonfinite); }

Passes order() {
  return {Pass{"ties",
               {{.distribution = Distribution::small_integers, .range = {-100, 100}}},
               exact_any_zero},
          Pass{"real_data", {real}, exact_any_zero}};
}

Passes extremes() { return with_specials(order(), Specials::all); }

Passes softmax_passes() {
  const Rule rule{.oracle = Oracle::softmax_bound, .ulps = declared_error("exp").ulps};
  // Overflows without the max-shift: exp(100) is infinite in f32, exp(800) in f64.
  const Data large_logits{.range = {-100, 100}, .range_f64 = Range{-800, 800}};
  return with_specials(
      {Pass{"large_logits", {large_logits}, rule}, Pass{"real_data", {uniform({-10, 10})}, rule}},
      Specials::all);
}

Passes layernorm_passes() {
  const Rule rule{.oracle = Oracle::layernorm_bound};
  // Far from zero a variance taken in one pass, as the mean of squares less the square of the mean,
  // cancels; around zero it is as good as any.
  Passes passes{Pass{"mean_1000", {uniform({992, 1008}), real}, rule},
                Pass{"real_data", {real}, rule}};
  passes = with_specials(std::move(passes), Specials::all);
  passes[1].data.push_back(real);  // weights and biases are numbers
  return passes;
}

Passes linear_passes(DType dtype, const Params& params) {
  const bool plain = params.word("act") == "none";
  Passes passes = only_finite_sums(plain ? plain_sum_bound : sum_bound);
  passes[0].rule.plain_sums = plain;
  if (!is_floating(dtype)) passes[1].rule = exact;
  if (params.word("act").starts_with("gelu")) {
    const Declared gelu_error = declared_error(params.word("act"));
    passes[0].rule = function_bound(gelu_error);
    passes[1].rule.per_term = gelu_slope;
    passes[1].rule.extra = gelu_error.argument_units;
  }
  return with_specials(std::move(passes), Specials::all);
}

Passes stack_passes(DType /*dtype*/, const Params& params) {
  Passes passes = only_finite_sums(sum_bound);
  passes[1].data = stack_data(params, 1, 1);
  passes[1].rule.oracle = Oracle::running_bound;
  // The sums of a first layer are exact; behind a gelu nothing is.
  if (params.word("act").starts_with("gelu")) {
    passes[0] = {"wide_data", stack_data(params, 2, 4), passes[1].rule};
  }
  return passes;
}

Passes allreduce_passes(DType dtype, const Params& params) {
  const std::string& reduce = params.word("reduce");
  const auto ranks = static_cast<std::uint64_t>(params.integer("ranks"));
  const double u = unit_roundoff(dtype);
  // Every rank has its own specials: a few of each kind meet.
  const auto with_some = [](Passes finite, Specials specials = Specials::all) {
    return with_specials(std::move(finite), specials, 16);
  };
  if (reduce == "sum") return with_some(only_finite_sums(plain_sum_bound));
  // Doubling is exact before the sum and behind it.
  if (reduce == "premul_sum") return with_some(only_finite_sums(sum_bound));
  if (reduce == "min" || reduce == "max") return order_of_two(true);
  if (reduce == "prod") {
    Passes passes = only_finite_products();
    // u is that of the message: with 16 bits K u falls short of what K - 1 roundings may do, which
    // is (1 + u)^(K - 1) - 1 whatever K.
    if (u > 0) {
      passes[1].rule.per_term = 0;
      passes[1].rule.extra = std::expm1(static_cast<double>(ranks - 1) * std::log1p(u)) / u;
    }
    return with_some(std::move(passes), Specials::nonfinite);
  }
  // avg: integers truncate the quotient of a sum that may wrap. A division by a power of two is
  // exact, any other adds the roundings of 1/n and of the quotient; second-order terms, below 2 n
  // u^2 S for n - 1 additions, are covered by the one rounding that L = n exceeds n - 1 by, for 2 n
  // u <= 1.
  Passes passes = only_finite_sums(sum_bound);
  if (!is_floating(dtype)) {
    passes[1].data = passes[0].data;
    passes[1].rule = exact;
  } else {
    if (!std::has_single_bit(ranks)) passes[0].rule = {.oracle = Oracle::sum_bound, .extra = 2};
    passes[1].rule.extra = 2;
  }
  return with_some(std::move(passes));
}

Passes gather_passes() {
  const Data indices{.distribution = Distribution::indices};
  return {Pass{"all_exponents", {any_exponent(), indices}, moved},
          Pass{"real_data", {real, indices}, moved}};
}

Passes no_inputs() { return {Pass{"first", {}, exact}, Pass{"again", {}, exact}}; }

Passes copies() {
  const Data unique{.distribution = Distribution::unique_words};
  return {Pass{"unique_words", {unique}, exact}, Pass{"real_data", {unique}, exact}};
}

}  // namespace assay
