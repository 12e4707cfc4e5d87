#include "kernels/ops/row.h"

#include <string>
#include <utility>

namespace assay {

using enum DType;

Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           Passes passes) {
  std::vector<Format> formats = row.formats;
  formats.insert(formats.end(), row.matrix_unit_formats.begin(), row.matrix_unit_formats.end());
  return {.name = row.name,
          .formula = row.formula,
          .formats = std::move(formats),
          .matrix_unit_formats = row.matrix_unit_formats,
          .parameters = std::move(parameters),
          .independent_rows = row.independent_rows,
          .independent_columns = row.independent_columns,
          .neutral = row.neutral,
          .signature = signature,
          .passes = std::move(passes)};
}

Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           PassesOf passes_of) {
  Op op = make_op(row, std::move(parameters), signature, Passes{});
  op.passes_of = passes_of;
  return op;
}

Op along_axis(Op op, std::string_view name, std::string_view formula) {
  const Parameter& first = op.parameters.front();
  op.name = name;
  op.formula = formula;
  op.parameters = {extent("outer"), first.name == "n" ? first : extent("n"), extent("inner")};
  op.independent_rows = {};
  return op;
}

std::vector<Format> floats() { return {f64, f32, bf16, f16}; }
std::vector<Format> signed_numbers() { return {f64, f32, bf16, f16, i64, i32}; }
std::vector<Format> numbers() { return {f64, f32, bf16, f16, i64, i32, u8}; }
std::vector<Format> numbers_and_bytes() { return {f64, f32, bf16, f16, i64, i32, i8, u8}; }
std::vector<Format> all_stored() { return {computed_dtypes().begin(), computed_dtypes().end()}; }

Parameter size(std::string_view name) { return {.name = name, .minimum = 0}; }

Parameter extent(std::string_view name) { return {.name = name, .minimum = 1}; }

Parameter optional_extent(std::string_view name) {
  return {.name = name, .minimum = 0, .default_value = ParamValue{std::int64_t{0}}};
}

Parameter limited(std::string_view name, std::int64_t minimum, std::int64_t maximum) {
  return {.name = name, .minimum = minimum, .maximum = maximum};
}

Parameter flag(std::string_view name) { return limited(name, 0, 1); }

Parameter choice(std::string_view name, std::vector<std::string_view> choices) {
  return {.name = name, .choices = std::move(choices)};
}

Parameter optional_choice(std::string_view name, std::vector<std::string_view> choices) {
  Parameter parameter = choice(name, std::move(choices));
  parameter.default_value = ParamValue{std::string(parameter.choices.front())};
  return parameter;
}

double as_double(std::int64_t count) { return static_cast<double>(count); }

Signature with_work(Signature signature, double flops) {
  signature.flops = flops;
  signature.bytes = 0;
  for (const auto* tensors : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      signature.bytes += static_cast<double>(tensor.bytes());
    }
  }
  return signature;
}

TensorSpec array_of(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  if (params.find("outer") == nullptr) return {dtype, {n}};
  return {
      .dtype = dtype, .shape = {params.integer("outer"), n, params.integer("inner")}, .axis = 1};
}

Signature array_signature(DType dtype, const Params& params) {
  const TensorSpec x = array_of(dtype, params);
  Signature s{.inputs = {x}, .outputs = {x}};
  s.terms = params.integer("n");
  return with_work(std::move(s), as_double(x.elements()));
}

}  // namespace assay
