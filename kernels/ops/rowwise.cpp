#include <string>
#include <utility>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/core/strides.h"
#include "kernels/ops/families.h"
#include "kernels/ops/function_errors.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

TensorSpec rows_tensor(DType dtype, const Params& params) {
  const std::int64_t cols = params.integer("cols");
  const std::int64_t ld = params.integer_or("ld", 0);
  if (ld != 0 && ld < cols) {
    throw NotApplicable("rows of " + std::to_string(cols) + " elements cannot be " +
                        std::to_string(ld) + " apart: ld must be at least cols");
  }
  const Shape shape{params.integer("rows"), cols};
  return {.dtype = dtype, .shape = shape, .strides = strides_of_gaps(shape, ld)};
}

/// Rows, or (outer, n, inner), of which the op works along n.
TensorSpec lines_tensor(DType dtype, const Params& params) {
  if (params.find("outer") == nullptr) return rows_tensor(dtype, params);
  return {.dtype = dtype,
          .shape = {params.integer("outer"), params.integer("n"), params.integer("inner")},
          .axis = 1};
}

/// Work of an op on a row, and its tensors of a number for each column.
struct Computation {
  int per_column;
  double flops;            // for each element
  bool is_constant_alone;  // the result of a row of one element
};

/// Softmax: maximum, subtraction, exponential, sum, division. Layernorm: sum, subtraction, square
/// and sum, two multiplications and an addition. RMSNorm: square and sum, two multiplications.
constexpr Computation of_softmax{.per_column = 0, .flops = 5, .is_constant_alone = true};
constexpr Computation of_layernorm{.per_column = 2, .flops = 7, .is_constant_alone = true};
constexpr Computation of_rmsnorm{.per_column = 1, .flops = 4, .is_constant_alone = false};

template <const Computation& computation>
Signature signature(DType dtype, const Params& params) {
  const TensorSpec tensor = lines_tensor(dtype, params);
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  const TensorSpec per_column{.dtype = dtype, .shape = {tensor.line_elements()}};
  s.inputs.insert(s.inputs.end(), static_cast<std::size_t>(computation.per_column), per_column);
  s.terms = tensor.line_elements();
  s.is_constant = computation.is_constant_alone && tensor.line_elements() == 1;
  return with_work(std::move(s), as_double(tensor.elements()) * computation.flops);
}

constexpr double centres_of_rows[] = {0, -2e4, 100, 1e30, -1e30, 6e4, -1e6, 1e12};

Passes softmax_passes(DType dtype, const Params& params) {
  const TensorSpec x = lines_tensor(dtype, params);
  const Rule rule{.oracle = Oracle::softmax_bound, .ulps = declared_error("exp").ulps};
  // Overflows without the max-shift: exp(100) is infinite in f32, exp(800) in f64.
  const Data large_logits{.range = {-100, 100}, .range_f64 = Range{-800, 800}};
  // Below any number at which a running maximum may begin.
  const Data low_logits =
      uniform(dtype == DType::f16 ? Range{-6e4 - 256, -6e4 + 256} : Range{-2e30, -1e30});
  // Masks, and what rows are filled up with.
  const Data lowest{.distribution = Distribution::constant, .needle = -greatest_number(dtype)};
  // Rows that share no maximum, nor a scale.
  const Data far_rows{
      .distribution = Distribution::far_rows, .range = {-10, 10}, .points = centres_of_rows};
  // Two logits share a row, and show the precision of their exponentials, however long it is.
  Data two_logits{
      .distribution = Distribution::lone, .range = {119, 121}, .run = (x.line_elements() + 1) / 2};
  Rule rule_of_two = rule;
  rule_of_two.roundings = 2;
  Passes passes{Pass{"large_logits", {large_logits}, rule},
                Pass{"low_logits", {low_logits}, rule},
                Pass{"lowest", {lowest}, rule},
                Pass{"far_rows", {far_rows}, rule},
                Pass{"two_logits", {two_logits}, rule_of_two},
                Pass{"far_logits", {uniform({-3e4, 3e4})}, rule},
                Pass{"real_data", {uniform({-10, 10})}, rule}};
  two_logits.range.low = 101;
  insert_before_last(passes, Pass{"two_logits", {two_logits}, rule_of_two});
  passes = with_all_sizes_in_turns(std::move(passes), x, rule);
  passes = with_specials_in_turns(with_specials(std::move(passes), Specials::all), x);
  return with_signs_in_turns(with_outliers(std::move(passes), x), {0.25, 1});
}

Passes layernorm_passes(DType dtype, const Params& params) {
  const Rule rule{.oracle = Oracle::layernorm_bound};
  // Its variance is about the number that is added to it, and a tenth of that.
  const Data small = uniform({-0.0055, 0.0055});
  const Data smaller = uniform({-0.0017, 0.0017});
  // Their squares are beyond f16.
  const Data large = dtype == DType::f16 ? uniform({-3e4, 3e4}) : uniform({-1e15, 1e15});
  // Far from zero a one-pass variance, the mean of squares less the square of the mean, cancels.
  // Around zero it is as good as any other.
  Passes passes{Pass{"mean_1000", {uniform({992, 1008}), real_data}, rule},
                Pass{"small_variance", {small, real_data}, rule},
                Pass{"small_variance", {smaller, real_data}, rule},
                Pass{"large", {large, real_data}, rule}, Pass{"real_data", {real_data}, rule}};
  passes = with_specials(std::move(passes), Specials::all);
  // Weights and biases are numbers: weights zeros too, by which NaN and infinities are multiplied.
  const Data weights{.distribution = Distribution::small_integers, .range = {-2, 2}};
  std::vector<Data>& special = passes.at(passes.size() - 2).data;
  special.insert(special.end(), {weights, real_data});
  const TensorSpec x = lines_tensor(dtype, params);
  passes = with_outliers(with_specials_in_turns(std::move(passes), x), x);
  return with_few_terms_in_turns(std::move(passes), x, rule, real_data);
}

/// A sum of squares errs by half as much where its root divides. Seven more: by half as much too
/// the mean, a rounded 1 / n, epsilon and the sum with it; by up to 4 the reciprocal of a root (2
/// ulp: CUDA's rsqrt); and the first of two products, in any order. The last rounds to the output.
constexpr Rule rmsnorm_rule{.oracle = Oracle::relative_bound, .per_term = 0.5, .extra = 7};

Passes rmsnorm_passes(DType dtype, const Params& params) {
  const Rule& rule = rmsnorm_rule;
  // The mean of their squares is about the number that is added to it, and a tenth of that.
  const Data small = uniform({-0.0055, 0.0055});
  const Data smaller = uniform({-0.0017, 0.0017});
  // Their squares are beyond f16, and in f64 beyond f32.
  const Data large = dtype == DType::f16
                         ? uniform({-3e4, 3e4})
                         : Data{.range = {-1e15, 1e15}, .range_f64 = Range{-1e100, 1e100}};
  // No numbers of rows that count as zeros: subnormal ones.
  const Data tiny = dtype == DType::f16
                        ? uniform({1e-6, 1e-5})
                        : Data{.range = {2e-39, 1e-38}, .range_f64 = Range{2e-309, 1e-308}};
  // By which subnormal numbers are multiplied without error, before or after the root.
  const Data powers{.distribution = Distribution::small_integers, .range = {1, 2}};
  const Data large_weights = dtype == DType::f16 ? uniform({-100, 100}) : uniform({-1e6, 1e6});
  Passes passes{
      Pass{"small_squares", {small, real_data}, rule},
      Pass{"small_squares", {smaller, real_data}, rule}, Pass{"large", {large, real_data}, rule},
      Pass{"zeros", {uniform({0, 0}), real_data}, rule}, Pass{"tiny", {tiny, powers}, rule},
      Pass{"large_weights", {real_data, large_weights}, rule},
      // Squares about a mean far from zero, which is no part of them.
      Pass{"mean_1000", {uniform({992, 1008}), real_data}, rule},
      Pass{"real_data", {real_data}, rule}};
  passes = with_real_data(with_specials(std::move(passes), Specials::nonfinite),
                          {.distribution = Distribution::roots}, unbiased_squares(dtype));
  const Data weights{.distribution = Distribution::small_integers, .range = {-2, 2}};
  passes.at(passes.size() - 2).data.push_back(weights);
  for (const std::int64_t turn : {0, 1, 2}) {
    Data special_weights = weights;
    special_weights.specials = Specials::nonfinite;
    special_weights.turn = turn;
    insert_before_last(passes, Pass{"special_weights", {real_data, special_weights}, rule});
  }
  const TensorSpec x = rows_tensor(dtype, params);
  passes = with_outliers(with_specials_in_turns(std::move(passes), x), x);
  Rule lone = rule;
  lone.roundings = 1;
  passes = with_lone_terms(std::move(passes), lone);
  return with_few_terms_in_turns(std::move(passes), x, rule, real_data);
}

/// Works on each of `rows` rows of `cols` elements separately, optionally `ld` apart.
template <const Computation& computation, class AnyPasses>
Op rowwise(const OpRow& row, AnyPasses passes) {
  return make_op(row, {extent("rows"), extent("cols"), optional_extent("ld")},
                 signature<computation>, std::move(passes));
}

}  // namespace

std::vector<Op> rowwise_ops() {
  const Op softmax = rowwise<of_softmax>(
      {"softmax",
       "y[r][c] = e^(x[r][c] - m) / sum over j of e^(x[r][j] - m), m the maximum of "
       "row r",
       floats(),
       {},
       "rows"},
      softmax_passes);
  const Op layernorm = rowwise<of_layernorm>(
      {"layernorm",
       "y[r][c] = (x[r][c] - mean of row r) / sqrt(its variance + 1e-5) weight[c] + bias[c]",
       floats(),
       {},
       "rows"},
      layernorm_passes);
  return with_views({
      softmax,
      layernorm,
      rowwise<of_rmsnorm>(
          {"rmsnorm",
           "y[r][c] = x[r][c] / sqrt(mean of the squares of row r + 1e-5) weight[c]",
           floats(),
           {},
           "rows"},
          rmsnorm_passes),
      along_axis(softmax, "softmax_axis",
                 "y[o][n][i] = e^(x[o][n][i] - m) / sum over j of e^(x[o][j][i] - m), m the "
                 "maximum of line (o, i)"),
      along_axis(layernorm, "layernorm_axis",
                 "y[o][n][i] = (x[o][n][i] - mean of line (o, i)) / sqrt(its variance + 1e-5) "
                 "weight[n] + bias[n]"),
  });
}

}  // namespace assay
