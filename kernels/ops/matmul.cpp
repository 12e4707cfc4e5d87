#include "kernels/ops/matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/families.h"
#include "kernels/ops/function_errors.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

/// Root mean square at which gelu and its tanh form differ, and neither is 0 or the identity.
constexpr double telling_rms = 1.5;

/// Upper bound of the slopes of gelu and of its tanh form.
constexpr double gelu_slope = 1.13;

/// Longest sum of block-scaled products whose exact data still have scales that differ
/// (harness/input/exact_data.cpp).
constexpr std::int64_t max_blocked_terms = 1 << 17;

/// Bytes of a row of `in` block-scaled elements; of other formats `in` itself.
std::int64_t stored_extent(Format format, std::int64_t in) {
  const BlockFormat* blocks = block_format(format);
  if (blocks == nullptr) return in;
  if (in % blocks->block != 0 || in > max_blocked_terms) {
    throw NotApplicable("linear: " + std::string(name(format)) +
                        " needs `in` to be a multiple of " + std::to_string(blocks->block) +
                        ", up to " + std::to_string(max_blocked_terms) + ", not " +
                        std::to_string(in));
  }
  return blocks->element_bytes(in);
}

/// Activation after a layer.
Parameter activation() { return choice("act", {"none", "relu", "gelu", "gelu_tanh"}); }

Signature batched_matmul_signature(Format format, const Params& params) {
  const std::int64_t batch = params.integer("batch");
  const std::int64_t m = params.integer("m");
  const std::int64_t n = params.integer("n");
  const std::int64_t k = params.integer("k");
  const DType stored = format.stored();
  Signature s{.inputs = {{stored, {batch, m, k}}, {stored, {batch, k, n}}},
              .outputs = {{result_dtype(format), {batch, m, n}}}};
  s.terms = k;
  s.factors_per_term = 2;
  return with_work(std::move(s), 2 * as_double(batch) * as_double(m) * as_double(n) * as_double(k));
}

/// Layers amplify the relative error of their input by sum |w h| / |sum w h|. For balanced signs
/// this is sqrt K for each layer, and a bound soon exceeds the result itself. So inputs are
/// positive, and weights mostly, with rows that sum to about 1. Biases of both signs make
/// activations see both sides.
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

/// Adds exact sums for layers whose weights, or whose inputs, few outputs depend on: an output of
/// few bits is to show each, behind a relu too. Terms nearly cancel: K products of 6 and 7 with
/// such numbers of both signs have a deviation of 4.6 sqrt K, and the shift makes their sum thrice
/// that.
Passes with_small_sums(Passes passes, const Params& params) {
  constexpr std::int64_t few = 8;
  constexpr std::int64_t max_terms = 1 << 18;  // of up to 63 within 24 bits
  const std::int64_t terms = params.integer("in");
  if (terms > max_terms) return passes;
  const double shift = std::min(2.0, 4.2 / std::sqrt(as_double(terms)));
  const Data level{.distribution = Distribution::small_integers, .range = {6, 7}};
  Rule rule = passes.front().rule;
  rule.plain_sums = false;
  for (const std::string_view extent : {"batch", "out"}) {
    if (params.integer(extent) > few) continue;
    for (const std::int64_t turn : {0, 1}) {
      const Data both = of_both_signs(6, 7, turn, shift);
      const bool is_of_weights = extent == "batch";
      std::vector<Data> data{is_of_weights ? level : both, is_of_weights ? both : level,
                             of_both_signs(32, 63, turn)};
      insert_before_last(passes, Pass{"small_sums", std::move(data), rule});
    }
  }
  return passes;
}

/// Adds passes for a stack in which all layers but one leave everything as it is, and sums are
/// whole, positive and so small that each term shows in an output of few bits. The weights of that
/// layer are 1 and -1 in turns. Its inputs are of m numbers, and d more at every second place: K of
/// them, N of which were drawn, sum to K d / 2, with a deviation of m K / sqrt(12 N), seven of
/// which stay in the range where gelu changes nothing and the dtype holds all whole numbers. That
/// layer and those behind it add biases.
Passes with_single_layers(Passes passes, Format format, const Params& params) {
  constexpr double max_bias = 4;
  constexpr double least = 9;  // from which on gelu changes nothing, in f64 too
  constexpr double max_range = 16;
  constexpr std::int64_t max_turns = 8;
  const std::int64_t layers = params.integer("layers");
  const int bits = std::min(precision_bits(format), 11);
  const bool is_gelu = params.word("act").starts_with("gelu");
  const bool rounds_errors_off = size_bytes(format.stored()) == 2;  // those of gelu
  const Rule rule = is_gelu && !rounds_errors_off ? passes.back().rule : exact_rule;
  const std::int64_t turns = std::min(layers, max_turns);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const std::int64_t layer = turn < turns - 1 ? turn : layers - 1;
    const auto terms = as_double(params.integer(layer == 0 ? "in" : "width"));
    const double middle = std::ldexp(1.0, bits - 1);
    const double more = std::floor(std::min(2 * middle / terms, middle / 2));
    const double pairs = std::floor(terms / 2);
    const double sum = pairs * more;
    const double unpaired = terms > 2 * pairs ? least + max_range + more : 0;
    const double room =
        std::min(sum - least, 2 * middle - sum - unpaired) - max_bias * as_double(layers - layer);
    const double drawn = std::min(terms, as_double(params.integer("in")));
    const double per_number = std::min(terms / 2, 7 * terms / std::sqrt(12 * drawn));
    const double most = std::min(max_range, std::floor(room / per_number));
    const bool is_one_number = layer > 0 && drawn < 2;  // whose terms of both signs cancel
    if (more < 1 || most < 2 || is_one_number) continue;
    const auto plus = [](double low, double high, double needle) {
      return Data{.distribution = Distribution::pairs, .range = {low, high}, .needle = needle};
    };
    std::vector<Data> data{plus(least, least + most, more)};
    for (std::int64_t i = 0; i < layers; ++i) {
      data.push_back(i == layer ? plus(-1, -1, 2) : Data{.distribution = Distribution::identity});
      const Data bias = i < layer ? uniform({0, 0}) : of_both_signs(1, max_bias, turn);
      if (params.integer("bias") != 0) data.push_back(bias);
    }
    insert_before_last(passes, Pass{"single_layers", std::move(data), rule});
  }
  return passes;
}

/// Root mean square of sums at which gelu is nearly a relu: a tenth of them are nearer to 0 than 6,
/// from where on it is one in f32.
constexpr double large_rms = 64;

/// Adds sums so large that a gelu of them shows their precision, as of those without one.
Passes with_large_sums(Passes passes, double terms) {
  const double factor = std::sqrt(3 * large_rms / std::sqrt(terms));
  Rule rule = passes.back().rule;
  rule.plain_sums = true;
  rule.activation = Activation::gelu;
  insert_before_last(passes, Pass{"large_sums", {uniform({-factor, factor})}, rule});
  return passes;
}

/// True where too few outputs for their errors to be judged together have sums whose bound hides
/// the precision of factors. Those of tf32 may be rounded or not.
bool has_few_long_sums(Format format, const Params& params) {
  constexpr std::int64_t few_outputs = 256;
  constexpr std::int64_t long_sum = 32;
  return format.product() == nullptr && format != DType::e4m3 && params.integer("in") > long_sum &&
         params.integer("batch") * params.integer("out") < few_outputs;
}

/// Adds factors of one sign, near the end of their range: sums of pairs that saturate at 16 bits,
/// and sums that a float of 24 bits does not hold.
Passes with_large_integers(Passes passes) {
  const Data ends{.distribution = Distribution::constant,
                  .needle = -std::numeric_limits<double>::infinity()};
  const Data large{.distribution = Distribution::small_integers, .range = {-128, -117}};
  const Data bias{.distribution = Distribution::small_integers, .range = {-100, 100}};
  insert_before_last(passes, Pass{"least_numbers", {ends, ends, bias}, exact_rule});
  insert_before_last(passes, Pass{"large_numbers", {large, large, bias}, exact_rule});
  return passes;
}

/// Adds data that need all parts, where their sum is judged as such. cuBLAS takes NaN and
/// infinities for interchangeable signs of an error (CUDA 12.9, release notes), and a relu of them
/// may be 0.
Passes passes_of_parts(Passes passes, const std::string& act) {
  if (act.starts_with("gelu")) return passes;
  passes = with_bf16_parts(std::move(passes));
  if (act != "none") return passes;
  passes = with_specials(std::move(passes), Specials::all);
  passes.at(passes.size() - 2).rule.any_nonfinite = true;
  return passes;
}

/// Adds sums of which one half is beyond f16, and a bias that leads across its end.
Passes with_sums_beyond_f16(Passes passes, std::int64_t terms) {
  const double f16_max = greatest_number(DType::f16);
  const double most = std::sqrt(3 * f16_max / std::sqrt(as_double(terms)));
  const Data large = uniform({-most, most});
  insert_before_last(passes, Pass{"large", {large, large, uniform({-f16_max, f16_max})}, sum_rule});
  return passes;
}

/// Adds factors of all exponents, of the input that has its terms in rows. Those of a product
/// format lose digits where others do not.
Passes of_all_sizes(Passes passes, Format format, const Signature& signature, std::size_t factor) {
  if (format.product() != nullptr) return passes;
  return with_all_sizes_of_one(std::move(passes), signature.inputs[factor], sum_rule,
                               uniform({0.25, 0.5}), factor);
}

}  // namespace

std::vector<Parameter> linear_parameters() {
  return {extent("batch"), extent("in"), extent("out"), flag("bias"), activation()};
}

std::vector<Parameter> stack_parameters() {
  return {extent("batch"),          extent("in"), extent("width"),
          limited("layers", 1, 64), flag("bias"), activation()};
}

Signature linear_signature(Format format, const Params& params) {
  const std::int64_t batch = params.integer("batch");
  const std::int64_t in = params.integer("in");
  const std::int64_t out = params.integer("out");
  const bool bias = params.integer("bias") != 0;
  const bool gelu = params.word("act").starts_with("gelu");
  if (gelu && !is_floating(format)) {
    throw NotApplicable("linear: act=" + params.word("act") + " needs a dtype of floats, not " +
                        std::string(name(format)));
  }
  // Integers keep their sum's dtype: another op scales them back to 8 bits.
  const DType stored = format.stored();
  const DType result = result_dtype(format);
  const std::int64_t row = stored_extent(format, in);
  Signature s{.inputs = {{stored, {batch, row}}, {stored, {out, row}}},
              .outputs = {{result, {batch, out}}}};
  if (bias) s.inputs.push_back({result, {out}});
  if (const BlockFormat* blocks = block_format(format)) {
    s.inputs.push_back({stored, {batch, blocks->scale_bytes(in)}});
    s.inputs.push_back({stored, {out, blocks->scale_bytes(in)}});
  }
  s.terms = in + (bias ? 1 : 0);
  s.factors_per_term = 2;
  s.sum_rms = gelu ? telling_rms : 0;
  s.is_product = true;
  return with_work(std::move(s),
                   as_double(batch) * as_double(out) * (2 * as_double(in) + (bias ? 1 : 0)));
}

Signature stack_signature(Format format, const Params& params) {
  const std::int64_t batch = params.integer("batch");
  const std::int64_t in = params.integer("in");
  const std::int64_t width = params.integer("width");
  const std::int64_t layers = params.integer("layers");
  const bool bias = params.integer("bias") != 0;
  const DType stored = format.stored();
  Signature s{.inputs = {{stored, {batch, in}}}, .outputs = {{stored, {batch, width}}}};
  double flops = 0;
  double paths = 0;  // from inputs and biases to one output: terms of the expanded sum
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t fan_in = layer == 0 ? in : width;
    s.inputs.push_back({stored, {width, fan_in}});
    if (bias) s.inputs.push_back({stored, {width}});
    flops += as_double(batch) * as_double(width) * (2 * as_double(fan_in) + (bias ? 1 : 0));
    paths = (layer == 0 ? as_double(in) : paths * as_double(width)) + (bias ? 1 : 0);
  }
  // Counted twice: the outputs of layers are rounded, and may be rounded up.
  s.terms = static_cast<std::int64_t>(std::min(2 * paths, 0x1p62));
  s.factors_per_term = static_cast<int>(layers) + 1;
  return with_work(std::move(s), flops);
}

Passes batched_matmul_passes(Format format, const Params& params) {
  return of_all_sizes(plain_sums(), format, batched_matmul_signature(format, params), 0);
}

Passes linear_passes(Format format, const Params& params) {
  const bool plain = params.word("act") == "none";
  Passes passes = finite_sums(plain ? plain_sum_rule : sum_rule);
  passes[0].rule.plain_sums = plain;
  if (!is_floating(format)) passes[1].rule = exact_rule;
  if (params.word("act").starts_with("gelu")) {
    const Declared gelu_error = declared_error(params.word("act"));
    passes[0].rule = function_rule(gelu_error);
    passes[1].rule.per_term = gelu_slope;
    passes[1].rule.extra = gelu_error.argument_units;
  }
  if (params.word("act") == "relu" && is_floating(format)) {
    passes[1].rule.plain_sums = true;
    passes[1].rule.activation = Activation::relu;
  }
  const bool is_plain_format = block_format(format) == nullptr && format != DType::e4m3;
  if (params.word("act").starts_with("gelu") && is_plain_format && !splits_factors(format)) {
    passes = with_large_sums(std::move(passes), as_double(params.integer("in")));
  }
  if (!is_floating(format)) {
    return with_large_integers(with_small_sums(std::move(passes), params));
  }
  if (has_few_long_sums(format, params)) {
    const bool is_gelu = params.word("act").starts_with("gelu");
    const Rule rule = is_gelu ? passes[0].rule : one_product_rule;
    passes = with_lone_terms(std::move(passes), rule, uniform({0, 0}));
  }
  if (is_plain_format) passes = with_small_sums(std::move(passes), params);
  if (splits_factors(format)) return passes_of_parts(std::move(passes), params.word("act"));
  const Signature s = linear_signature(format, params);
  passes = with_specials_in_turns(with_specials(std::move(passes), Specials::all), s.inputs[0]);
  if (params.word("act").starts_with("gelu") || !is_plain_format) return passes;
  if (format == DType::f16) passes = with_sums_beyond_f16(std::move(passes), s.terms);
  return of_all_sizes(of_all_sizes(std::move(passes), format, s, 0), format, s, 1);
}

Passes stack_passes(Format format, const Params& params) {
  Passes passes = finite_sums(sum_rule);
  passes[1].data = stack_data(params, 1, 1);
  passes[1].rule.oracle = Oracle::running_bound;
  // The sums of a first layer are exact. After a gelu nothing is.
  if (params.word("act").starts_with("gelu")) {
    passes[0] = {"wide_data", stack_data(params, 2, 4), passes[1].rule};
  }
  return with_single_layers(std::move(passes), format, params);
}

std::vector<Op> matmul_ops() {
  using enum DType;
  using enum ProductFormat;
  return with_views({
      make_op({"batched_matmul",
               "y[b][i][j] = sum over l of a[b][i][l] b[b][l][j]",
               floats(),
               {tf32},
               "batch"},
              {extent("batch"), extent("m"), extent("n"), extent("k")}, batched_matmul_signature,
              batched_matmul_passes),
      make_op({"linear",
               "y[b][o] = act(sum over i of x[b][i] w[o][i] + bias[o]); i8 gives i32, e4m3 and "
               "block-scaled formats bf16",
               {f64, f32, bf16, f16, i8},
               {tf32, e4m3, mxfp8, mxfp4, nvfp4, bf16x9},
               "batch",
               "out"},
              linear_parameters(), linear_signature, linear_passes),
      make_op({"linear_stack",
               "`layers` times linear, each on the output of the one before",
               floats(),
               {tf32},
               "batch"},
              stack_parameters(), stack_signature, stack_passes),
  });
}

}  // namespace assay
