#include "kernels/ops/elementwise.h"
#include "kernels/ops/families.h"
#include "kernels/ops/function_errors.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

// Where the functions are zero, overflow, vanish or saturate, in f32 and in f64, and where
// implementations are known to change their formula.
constexpr double of_exp[] = {-0.34657359, 0.34657359,    1,           88.7228391, -87.3365448,
                             -103.972077, 709.782712893, -708.396419, -745.133219};
constexpr double of_log[] = {0.5, 0.70710678118, 1, 1.41421356237, 2};
constexpr double of_tanh[] = {-0.625, 0.55, 0.625, 1, 9.01091, 19.0615, -9.01091, -22};
constexpr double of_sigmoid[] = {-88.7228391, -103.972077, 16.6355, 17.3287,
                                 36.7368,     88.7228391,  -709,    -745.133219};
// erf: 0.84375, 1.25, 1 / 0.35, 4 and 6, times the root of 2.
constexpr double of_gelu[] = {-1.19324, 1.19324,  -1.76777, 1.76777,  -4.04061,
                              4.04061,  -5.65685, 5.65685,  -8.48528, -13.1};
constexpr double one[] = {1};

/// Passes of a^b. Negative numbers have powers of whole exponents.
Passes power() {
  const Rule rule = function_rule(declared_error("pow"));
  const Data positive = stratified({0, 3.4e38}, {0, 1.7e308});
  const Data exponents = uniform({-4, 4});
  const Data few{.distribution = Distribution::few};
  const Data whole{.distribution = Distribution::small_integers, .range = {-9, 9}};
  const Data near_one{.distribution = Distribution::around, .points = one};
  return {Pass{"domain", {positive, exponents}, rule}, Pass{"few_numbers", {few, few}, rule},
          Pass{"whole_exponents", {uniform({-8, 8}), whole}, rule},
          Pass{"turning_points", {near_one, uniform({-1000, 1000})}, rule},
          Pass{"real_data", {uniform({0x1p-10, 10}), exponents}, rule}};
}

}  // namespace

std::vector<Op> functions_ops() {
  const Data positive = stratified({0, 3.4e38}, {0, 1.7e308});
  // Covers zero results, subnormal results and the overflow to infinity.
  const Data exp_domain = stratified({-104, 89}, {-746, 710});
  const Data tails = stratified({-104, 104}, {-746, 746});
  const Data around_zero = uniform({-10, 10});
  const Data above_zero = uniform({0x1p-10, 10});
  std::vector<Op> ops = with_views({
      // clang-format off
      elementwise({"exp", "y[i] = e^x[i]", floats()}, Operands::one, function(declared_error("exp"), exp_domain, around_zero, of_exp)),
      elementwise({"log", "y[i] = natural logarithm of x[i]", floats()}, Operands::one, function(declared_error("log"), positive, above_zero, of_log)),
      elementwise({"tanh", "y[i] = tanh x[i]", floats()}, Operands::one,
                  with_signs_in_turns(function(declared_error("tanh"), tails, around_zero, of_tanh), {0.25, 2})),
      elementwise({"sigmoid", "y[i] = 1 / (1 + e^-x[i])", floats()}, Operands::one,
                  with_signs_in_turns(function(declared_error("sigmoid"), tails, around_zero, of_sigmoid), {0.5, 3})),
      elementwise({"gelu", "y[i] = x[i]/2 (1 + erf(x[i]/sqrt 2))", floats()}, Operands::one,
                  with_signs_in_turns(function(declared_error("gelu"), tails, around_zero, of_gelu), {0.5, 3})),
      elementwise({"gelu_tanh", "y[i] = x[i]/2 (1 + tanh(sqrt(2/pi) (x[i] + 0.044715 x[i]^3)))", floats()}, Operands::one,
                  with_signs_in_turns(function(declared_error("gelu_tanh"), tails, around_zero, of_gelu), {0.5, 3})),
      elementwise({"pow", "y[i] = a[i]^b[i]", floats()}, Operands::two, power()),
      // clang-format on
  });
  for (Op& op : ops) op.evaluates_function = true;
  return ops;
}

}  // namespace assay
