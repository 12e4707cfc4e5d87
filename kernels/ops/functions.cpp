#include "kernels/ops/elementwise.h"
#include "kernels/ops/families.h"
#include "kernels/ops/function_errors.h"
#include "kernels/ops/passes.h"

namespace assay {
namespace {

/// Passes for a function of two arguments.
Passes function_of_two(const Declared& error, const Data& domain_a, const Data& domain_b,
                       const Data& plain_a, const Data& plain_b) {
  return {Pass{"domain", {domain_a, domain_b}, function_rule(error)},
          Pass{"real_data", {plain_a, plain_b}, function_rule(error)}};
}

}  // namespace

std::vector<Op> function_ops() {
  const Data positive = stratified({0, 3.4e38}, {0, 1.7e308});
  // Covers zero results, subnormal results and the overflow to infinity.
  const Data exp_domain = stratified({-104, 89}, {-746, 710});
  const Data tails = stratified({-104, 104}, {-746, 746});
  const Data around_zero = uniform({-10, 10});
  const Data above_zero = uniform({0x1p-10, 10});
  const Data exponents = uniform({-4, 4});
  return {
      // clang-format off
      elementwise({"exp", "y[i] = e^x[i]", floats()}, Operands::one, function(declared_error("exp"), exp_domain, around_zero)),
      elementwise({"log", "y[i] = natural logarithm of x[i]", floats()}, Operands::one, function(declared_error("log"), positive, above_zero)),
      elementwise({"tanh", "y[i] = tanh x[i]", floats()}, Operands::one, function(declared_error("tanh"), tails, around_zero)),
      elementwise({"sigmoid", "y[i] = 1 / (1 + e^-x[i])", floats()}, Operands::one, function(declared_error("sigmoid"), tails, around_zero)),
      elementwise({"gelu", "y[i] = x[i]/2 (1 + erf(x[i]/sqrt 2))", floats()}, Operands::one,
                  with_signs_in_turns(function(declared_error("gelu"), tails, around_zero), {0.5, 3})),
      elementwise({"gelu_tanh", "y[i] = x[i]/2 (1 + tanh(sqrt(2/pi) (x[i] + 0.044715 x[i]^3)))", floats()}, Operands::one,
                  with_signs_in_turns(function(declared_error("gelu_tanh"), tails, around_zero), {0.5, 3})),
      elementwise({"pow", "y[i] = a[i]^b[i]", floats()}, Operands::two, function_of_two(declared_error("pow"), positive, exponents, above_zero, exponents)),
      // clang-format on
  };
}

}  // namespace assay
