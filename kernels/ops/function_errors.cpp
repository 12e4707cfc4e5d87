#include "kernels/ops/function_errors.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

constexpr FunctionError table[] = {
    {.op = "exp", .function = "exp", .libmvec = 4, .cuda_f32 = 2, .cuda_f64 = 1},
    {.op = "log", .function = "log", .libmvec = 4, .cuda_f32 = 1, .cuda_f64 = 1},
    {.op = "tanh", .function = "tanh", .libmvec = 4, .cuda_f32 = 2, .cuda_f64 = 1},
    {.op = "pow", .function = "pow", .libmvec = 4, .cuda_f32 = 4, .cuda_f64 = 2},
    // Rounds once for the addition and once for the division.
    {.op = "sigmoid",
     .function = "exp",
     .libmvec = 4,
     .cuda_f32 = 2,
     .cuda_f64 = 1,
     .operations = 2},
    {.op = "gelu",
     .function = "erfc",
     .libmvec = 4,
     .cuda_f32 = 4,
     .cuda_f64 = 5,
     .argument_units = 16},
    {.op = "gelu_tanh",
     .function = "exp",
     .libmvec = 4,
     .cuda_f32 = 2,
     .cuda_f64 = 1,
     .argument_units = 16},
};

}  // namespace

std::span<const FunctionError> function_errors() { return table; }

Declared declared_error(std::string_view op) {
  const auto* row = std::ranges::find(table, op, &FunctionError::op);
  if (row == std::end(table)) {
    throw std::logic_error("no published error for the function " + std::string(op));
  }
  if (row->argument_units > 0) return {.argument_units = row->argument_units};
  const double cuda = std::max(row->cuda_f32, row->cuda_f64) + 0.5;
  return {.ulps = std::max(row->libmvec, cuda) + row->operations};
}

}  // namespace assay
