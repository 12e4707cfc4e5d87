#include "kernels/ops/op.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

constexpr std::int64_t max_special_elements = 1 << 17;

/// Exceeds any machine's memory, yet sizes in bytes never overflow.
constexpr double max_elements = 0x1p44;

std::vector<std::string> parameter_names(const Op& op) {
  std::vector<std::string> names;
  for (const Parameter& parameter : op.parameters) names.emplace_back(parameter.name);
  return names;
}

const Parameter& find_parameter(const Op& op, std::string_view name) {
  for (const Parameter& parameter : op.parameters) {
    if (parameter.name == name) return parameter;
  }
  throw UsageError(
      unknown_name("parameter of op " + std::string(op.name), name, parameter_names(op)));
}

std::string prefix(const Op& op, const Parameter& parameter) {
  return std::string(op.name) + ": " + std::string(parameter.name);
}

void check_value(const Op& op, const Parameter& parameter, const ParamValue& value) {
  if (parameter.choices.empty()) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < parameter.minimum || *number > parameter.maximum) {
      throw UsageError(prefix(op, parameter) + " must be a whole number from " +
                       std::to_string(parameter.minimum) + " to " +
                       std::to_string(parameter.maximum) + ", not '" + to_text(value) + "'");
    }
    return;
  }
  const auto* word = std::get_if<std::string>(&value);
  if (word == nullptr || std::ranges::find(parameter.choices, *word) == parameter.choices.end()) {
    const std::vector<std::string> valid(parameter.choices.begin(), parameter.choices.end());
    throw UsageError(unknown_name("value of " + prefix(op, parameter), to_text(value), valid));
  }
}

void check_size(const Op& op, const Params& params, const Signature& signature) {
  const auto check = [&](const TensorSpec& tensor) {
    double elements = 1;
    for (const std::int64_t extent : tensor.shape) elements *= static_cast<double>(extent);
    if (!tensor.is_dense()) {  // from the outermost extent's steps
      elements = std::max(elements, static_cast<double>(tensor.shape.front()) *
                                        static_cast<double>(tensor.strides.front()));
    }
    if (elements > max_elements) {
      throw UsageError(std::string(op.name) + ": " + params.text() + " is too large: a tensor of " +
                       "more than 2^44 elements");
    }
  };
  for (const TensorSpec& tensor : signature.inputs) check(tensor);
  for (const TensorSpec& tensor : signature.outputs) check(tensor);
}

void exchange_places(TensorSpec& a, TensorSpec& b) {
  std::swap(a.memory, b.memory);
  std::swap(a.device, b.device);
}

/// Limit above which a full reference takes longer than the product itself.
constexpr double max_reference_products = 0x1p24;

bool is_large_exact_product(const OpInstance& op, const Pass& pass) {
  const bool is_rounded = precision_bits(output_dtype(op)) < precision_bits(accumulator(op));
  return op.signature.is_product && pass.rule.oracle == Oracle::exact && pass.rule.plain_sums &&
         pass.data_of(0).distribution == Distribution::integers && !is_rounded &&
         op.signature.flops / 2 > max_reference_products;
}

}  // namespace

std::vector<int> output_ranks(const Signature& signature) {
  if (signature.output_rank >= 0) return {signature.output_rank};
  std::vector<int> all(static_cast<std::size_t>(signature.ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::int64_t output_elements(const Signature& signature) {
  std::int64_t elements = 0;
  for (const TensorSpec& output : signature.outputs) elements += output.elements();
  return std::ssize(output_ranks(signature)) * elements;
}

OpInstance of_output(OpInstance op, std::size_t output) {
  auto& outputs = op.signature.outputs;
  const auto judged = outputs.begin() + static_cast<std::ptrdiff_t>(output);
  std::rotate(outputs.begin(), judged, judged + 1);
  op.signature.judged_output = output;
  return op;
}

RankTensors tensors_of(const Signature& signature, int rank) {
  RankTensors tensors{signature.inputs, signature.outputs};
  if (signature.output_rank >= 0 && signature.output_rank != rank) {
    for (TensorSpec& output : tensors.outputs) output.shape = {0};
  }
  if (signature.is_mirrored && rank % 2 == 1) {
    exchange_places(tensors.inputs.at(0), tensors.outputs.at(0));
  }
  return tensors;
}

ParamValue parse_parameter(const Op& op, std::string_view name, std::string_view text) {
  const Parameter& parameter = find_parameter(op, name);
  ParamValue value = std::string(text);
  if (parameter.choices.empty()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // Text that is no number stays text; check_value refuses it by name.
    if (error == std::errc() && end == text.data() + text.size()) value = number;
  }
  check_value(op, parameter, value);
  return value;
}

Neutral neutral_of(const OpInstance& op) {
  const ParamValue* reduce = op.params.find("reduce");
  if (reduce == nullptr) return op.op->neutral;
  const std::string word = op.params.word("reduce");
  if (word == "prod") return Neutral::one;
  if (word == "min") return Neutral::greatest;
  return word == "max" ? Neutral::least : Neutral::zero;
}

Passes passes(const OpInstance& op) {
  Passes passes =
      op.op->passes_of.is_set() ? op.op->passes_of(op.format, op.params) : op.op->passes;
  // The effects of special values show on small shapes. Integers have no special values.
  std::int64_t elements = 0;
  for (const TensorSpec& input : op.signature.inputs) elements += input.elements();
  if (!is_floating(op.format) || elements > max_special_elements) {
    std::erase_if(passes, [](const Pass& pass) { return pass.has_specials(); });
  }
  for (Pass& pass : passes) {
    if (is_large_exact_product(op, pass)) pass.rule.oracle = Oracle::freivalds;
  }
  return passes;
}

OpInstance instantiate(const Op& op, Format format, const Params& params) {
  if (std::ranges::find(op.formats, format) == op.formats.end()) {
    std::vector<std::string> valid;
    for (const Format supported : op.formats) valid.emplace_back(name(supported));
    throw UsageError("op " + std::string(op.name) + " has no dtype " + std::string(name(format)) +
                     "; valid: " + join(valid, ", "));
  }
  OpInstance instance{&op, format, {}, {}};
  for (const Parameter& parameter : op.parameters) {
    const ParamValue* value = params.find(parameter.name);
    if (value == nullptr && !parameter.default_value) {
      throw UsageError("op " + std::string(op.name) + " needs a value for '" +
                       std::string(parameter.name) +
                       "'; its parameters: " + join(parameter_names(op), ", "));
    }
    if (value == nullptr) continue;
    check_value(op, parameter, *value);
    if (parameter.default_value != *value) instance.params.set(parameter.name, *value);
  }
  for (const auto& [given, value] : params.entries()) find_parameter(op, given);
  instance.signature = op.signature(format, instance.params);
  check_size(op, instance.params, instance.signature);
  return instance;
}

}  // namespace assay
