#include "kernels/ops/views.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/core/strides.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

constexpr std::string_view dense = "none";

bool has_rows(const TensorSpec& spec) { return spec.shape.size() > 1; }

void transpose(TensorSpec& spec) {
  const std::size_t last = spec.shape.size() - 1;
  spec.strides = strides_of(spec);
  spec.strides[last] = spec.shape[last - 1];
  spec.strides[last - 1] = 1;
}

/// Odd steps: rows of narrow elements begin at any address.
void step(TensorSpec& spec) {
  constexpr std::int64_t columns = 3;
  constexpr std::int64_t rows = 2;
  spec.strides = strides_of(spec);
  const std::size_t last = spec.shape.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) spec.strides[i] *= i == last ? columns : columns * rows;
}

void pad(TensorSpec& spec, std::int64_t gap) {
  spec.strides = strides_of_rows(spec.shape, spec.row_elements() + gap);
}

/// Applies `change` to those of the tensors that `takes` names, and returns their number.
template <class Takes, class Change>
std::size_t change_those(std::vector<TensorSpec>& tensors, const Takes& takes,
                         const Change& change) {
  std::size_t changed = 0;
  for (TensorSpec& spec : tensors) {
    if (takes(spec)) change(spec, changed++);
  }
  return changed;
}

/// Returns the number of tensors that are views.
std::size_t lay_out(Signature& s, std::string_view view) {
  constexpr std::int64_t gap_of_outputs = 3;
  constexpr std::int64_t gap_of_inputs = 5;
  if (view == "transposed")
    return change_those(s.inputs, has_rows, [](TensorSpec& spec, std::size_t) { transpose(spec); });
  if (view == "mixed") {
    const bool are_several = std::ranges::count_if(s.inputs, has_rows) > 1;
    if (are_several) transpose(*std::ranges::find_if(s.inputs, has_rows));
    return are_several ? 1 : 0;
  }
  if (view == "stepped") {
    const auto is_more_than_scalar = [](const TensorSpec& spec) { return spec.elements() > 1; };
    return change_those(s.inputs, is_more_than_scalar,
                        [](TensorSpec& spec, std::size_t) { step(spec); });
  }
  const auto pad_input = [](TensorSpec& spec, std::size_t i) {
    pad(spec, gap_of_inputs + 2 * static_cast<std::int64_t>(i));
  };
  const auto pad_output = [](TensorSpec& spec, std::size_t) { pad(spec, gap_of_outputs); };
  return change_those(s.inputs, has_rows, pad_input) +
         change_those(s.outputs, has_rows, pad_output);
}

Signature viewed(Signature s, std::string_view op, std::string_view view) {
  const auto refuse = [&](std::string_view why) -> void {
    throw NotApplicable(std::string(op) + ": view=" + std::string(view) + " " + std::string(why));
  };
  for (const auto* tensors : {&s.inputs, &s.outputs}) {
    if (!std::ranges::all_of(*tensors, &TensorSpec::is_dense))
      refuse("and ld both say where rows lie: leave one of them out");
  }
  if (lay_out(s, view) == 0) {
    refuse(view == "mixed" ? "needs two inputs of rows and columns"
                           : "needs an input of rows and columns, or with stepped of two elements");
  }
  return s;
}

Op with_view(Op op) {
  op.signature =
      std::function([base = op.signature, name = op.name](Format format, const Params& params) {
        Signature s = base(format, params);
        const ParamValue* view = params.find("view");
        if (view == nullptr || std::get<std::string>(*view) == dense) return s;
        return viewed(std::move(s), name, std::get<std::string>(*view));
      });
  op.parameters.push_back(
      optional_choice("view", {dense, "transposed", "mixed", "stepped", "padded"}));
  return op;
}

/// Dtype of numbers of so many bytes, whose elements a copy moves as they are.
DType moved_dtype(std::size_t bytes) {
  switch (bytes) {
    case 8:
      return DType::i64;
    case 4:
      return DType::i32;
    case 2:
      return DType::f16;
    default:
      return DType::u8;
  }
}

}  // namespace

std::vector<Op> with_views(std::vector<Op> ops) {
  std::ranges::transform(ops, ops.begin(), with_view);
  return ops;
}

bool has_view(const OpInstance& op) {
  const ParamValue* view = op.params.find("view");
  return view != nullptr && *view != ParamValue{std::string(dense)};
}

OpInstance without_view(const OpInstance& op) {
  Params params;
  for (const auto& [name, value] : op.params.entries()) {
    if (name != "view") params.set(name, value);
  }
  return instantiate(*op.op, op.format, params);
}

OpInstance copy_between(const TensorSpec& from, const TensorSpec& to) {
  Params params;
  params.set("n", from.elements());
  OpInstance copy = instantiate(*find_op("copy"), moved_dtype(size_bytes(from.dtype)), params);
  const auto moved = [&](TensorSpec spec) {
    spec.dtype = copy.dtype();
    return spec;
  };
  copy.signature.inputs = {moved(from)};
  copy.signature.outputs = {moved(to)};
  return copy;
}

}  // namespace assay
