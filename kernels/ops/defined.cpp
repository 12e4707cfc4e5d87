#include "kernels/ops/defined.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/extent.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

/// Their addresses stay: ops refer to the texts.
std::deque<DefinedOp>& definitions() {
  static std::deque<DefinedOp> all;
  return all;
}

TensorSpec tensor_of(const DefinedTensor& tensor, DType dtype, const Params& params) {
  TensorSpec spec{.dtype = tensor.dtype.value_or(dtype)};
  for (const std::string& extent : tensor.extents) {
    spec.shape.push_back(evaluate_extent(extent, params));
  }
  return spec;
}

Signature signature_of(const DefinedOp& op, DType dtype, const Params& params) {
  Signature s;
  for (const DefinedInput& input : op.inputs) s.inputs.push_back(tensor_of(input, dtype, params));
  for (const DefinedTensor& output : op.outputs) {
    s.outputs.push_back(tensor_of(output, dtype, params));
  }
  s.terms = std::max<std::int64_t>(1, evaluate_extent(op.terms, params));
  return with_work(std::move(s), 0);
}

/// Value of a text that is a number, or of another one that is an extent.
double number_of(const std::string& text, const Params& params) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return static_cast<double>(evaluate_extent(text, params));
}

bool takes_given(const DefinedInput& input) {
  return input.numbers == DefinedNumbers::given || input.numbers == DefinedNumbers::given_or_any;
}

/// True for an input that any floating-point number may be in.
bool takes_any_number(const DefinedInput& input) {
  return (!input.dtype || is_floating(*input.dtype)) &&
         (input.numbers == DefinedNumbers::normal || input.numbers == DefinedNumbers::given_or_any);
}

Data wanted_data(const DefinedInput& input, const Params& params) {
  if (input.numbers == DefinedNumbers::normal) {
    return {.distribution = Distribution::normal, .range = {0, 1}};
  }
  if (takes_given(input)) return {.distribution = Distribution::given};
  const Range range{number_of(input.low, params), number_of(input.high, params)};
  if (!(range.low <= range.high) || !std::isfinite(range.high - range.low)) {
    throw NotApplicable("no number is from " + input.low + " to " + input.high + " at " +
                        params.text());
  }
  const bool is_whole = input.numbers == DefinedNumbers::whole;
  return {.distribution = is_whole ? Distribution::small_integers : Distribution::uniform,
          .range = range};
}

/// A mean beside which numbers of the dtype keep half of their bits.
double far_mean(DType dtype) {
  if (size_bytes(dtype) == 1) return 4;
  if (dtype == DType::bf16) return 16;
  return dtype == DType::f16 ? 64 : 1024;
}

/// The first input of any number: that which flows through the op, while others are its weights.
std::optional<std::size_t> activation_of(const DefinedOp& op) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (takes_any_number(op.inputs[i])) return i;
  }
  return std::nullopt;
}

/// Data that show what those of the user hide: integers, which rings compute exactly, and another
/// scale, mean and special values of the activation.
Passes passes_of(const DefinedOp& op, DType dtype, const Params& params) {
  const Rule rule{.oracle = Oracle::measured_band, .allowed = op.allowed};
  std::vector<Data> wanted;
  for (const DefinedInput& input : op.inputs) wanted.push_back(wanted_data(input, params));
  Passes passes;
  if (op.is_ring && std::ranges::any_of(op.inputs, takes_any_number)) {
    std::vector<Data> integers = wanted;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (takes_any_number(op.inputs[i])) {
        integers[i] = {.distribution = Distribution::small_integers, .range = {-4, 4}};
      }
    }
    passes.push_back({"exact_data", std::move(integers), rule});
  }
  if (const auto activation = activation_of(op)) {
    const auto with = [&](std::string_view name, const Data& data) {
      std::vector<Data> all = wanted;
      all[*activation] = data;
      passes.push_back({name, std::move(all), rule});
    };
    const auto normal = [](double mean, double deviation) {
      return Data{.distribution = Distribution::normal, .range = {mean, deviation}};
    };
    with("large_data", normal(0, 64));
    with("small_data", normal(0, 0x1p-10));
    with("far_mean", normal(far_mean(op.inputs[*activation].dtype.value_or(dtype)), 1));
    with("needles", {.distribution = Distribution::border_needles});
    with("zero_data", {.distribution = Distribution::constant, .needle = 0});
    Data special = normal(0, 1);
    special.specials = Specials::nonfinite;
    with("special_values", special);
  } else if (std::ranges::any_of(op.inputs, takes_given)) {
    // A result that is remembered from the only launch would be right. Twice, since the first pass
    // has tensors of its own, and so may have a kernel of its own.
    passes.insert(passes.end(), 2, {"other_data", wanted, rule});
  }
  passes.push_back({"real_data", std::move(wanted), rule});
  return passes;
}

void check(const DefinedOp& op) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("op '" + op.name + "': " + why);
  };
  if (find_op(op.name) != nullptr) {
    throw UsageError("an op is called '" + op.name + "' already; choose another name");
  }
  constexpr std::array<std::string_view, 4> taken{"dtype", "op", "suite", "device"};
  for (const DefinedParameter& parameter : op.parameters) {
    if (std::ranges::find(taken, parameter.name) != taken.end()) {
      refuse("no size can be called '" + parameter.name + "': that is a column of every case");
    }
  }
  if (op.inputs.empty()) refuse("it has no inputs");
  if (op.outputs.empty()) refuse("it has no outputs");
  if (op.dtypes.empty()) refuse("it has no dtypes");
}

Op op_of(const DefinedOp& defined) {
  const OpRow row{.name = defined.name,
                  .formula = defined.formula,
                  .formats = {defined.dtypes.begin(), defined.dtypes.end()},
                  .independent_rows = defined.rows};
  std::vector<Parameter> parameters;
  for (const DefinedParameter& parameter : defined.parameters) {
    parameters.push_back(extent(parameter.name));
  }
  const SignatureOf signature([&defined](Format format, const Params& params) {
    return signature_of(defined, format.stored(), params);
  });
  const PassesOf passes([&defined](Format format, const Params& params) {
    return passes_of(defined, format.stored(), params);
  });
  Op op = make_op(row, std::move(parameters), signature, passes);
  op.stands_for_suite = suite_of_defined_ops;
  return op;
}

}  // namespace

void define_ops(std::vector<DefinedOp> ops) {
  for (const DefinedOp& op : ops) check(op);
  for (DefinedOp& op : ops) add_op(op_of(definitions().emplace_back(std::move(op))));
}

const std::deque<DefinedOp>& every_defined_op() { return definitions(); }

const DefinedOp* find_defined(std::string_view op) {
  const auto found = std::ranges::find(definitions(), op, &DefinedOp::name);
  return found == definitions().end() ? nullptr : &*found;
}

std::string_view refusal_of(std::string_view op) {
  const DefinedOp* found = find_defined(op);
  return found == nullptr ? std::string_view() : found->refusal;
}

}  // namespace assay
