#include "kernels/ops/row.h"

#include <string>
#include <utility>

namespace assay {

Parameter size(std::string_view name) { return {.name = name, .minimum = 0}; }

Parameter extent(std::string_view name) { return {.name = name, .minimum = 1}; }

Parameter optional_extent(std::string_view name) {
  return {.name = name, .minimum = 0, .otherwise = ParamValue{std::int64_t{0}}};
}

Parameter limited(std::string_view name, std::int64_t minimum, std::int64_t maximum) {
  return {.name = name, .minimum = minimum, .maximum = maximum};
}

Parameter flag(std::string_view name) { return limited(name, 0, 1); }

Parameter choice(std::string_view name, std::vector<std::string_view> words) {
  return {.name = name, .words = std::move(words)};
}

Parameter optional_choice(std::string_view name, std::vector<std::string_view> words) {
  Parameter parameter = choice(name, std::move(words));
  parameter.otherwise = ParamValue{std::string(parameter.words.front())};
  return parameter;
}

Parameter activation() { return choice("act", {"none", "relu", "gelu", "gelu_tanh"}); }

Parameter seed_of_numbers() { return limited("seed", 0, (std::int64_t{1} << 44) - 1); }

std::vector<std::string_view> with_own_memory() { return {"cuda", "sim"}; }

std::vector<std::string_view> apart_from_the_host() { return {"cuda", "sim", "mpi"}; }

Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           Passes passes) {
  std::vector<DType> dtypes = row.dtypes;
  dtypes.insert(dtypes.end(), row.not_on_cpu.begin(), row.not_on_cpu.end());
  return {.name = row.name,
          .formula = row.formula,
          .dtypes = std::move(dtypes),
          .not_on_cpu = row.not_on_cpu,
          .parameters = std::move(parameters),
          .signature = signature,
          .passes = std::move(passes)};
}

Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           Passes (*passes_of)(DType, const Params&)) {
  Op op = make_op(row, std::move(parameters), signature, Passes{});
  op.passes_of = passes_of;
  return op;
}

}  // namespace assay
