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

bool has_several(const TensorSpec& spec) { return spec.elements() > 1; }
bool has_rows(const TensorSpec& spec) { return spec.shape.size() > 1; }
bool has_matrices(const TensorSpec& spec) { return spec.shape.size() > 2; }

/// Exchanges the last two extents in memory, where `gap` elements lie between the new rows.
void transpose_apart(TensorSpec& spec, std::int64_t gap) {
  const std::size_t last = spec.shape.size() - 1;
  const std::int64_t row = spec.shape[last - 1] + gap;
  spec.strides.assign(last + 1, 0);
  spec.strides[last] = row;
  spec.strides[last - 1] = 1;
  std::int64_t matrix = row * spec.shape[last];
  for (std::size_t i = last - 1; i-- > 0; matrix *= spec.shape[i]) spec.strides[i] = matrix;
}

void transpose(TensorSpec& spec) { transpose_apart(spec, 0); }

/// Takes every column, row and matrix of so many.
void step(TensorSpec& spec, std::int64_t columns, std::int64_t rows) {
  spec.strides = strides_of(spec);
  const std::size_t last = spec.shape.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) spec.strides[i] *= i == last ? columns : columns * rows;
}

/// Repeats the first one of an extent.
void expand(TensorSpec& spec, std::size_t extent) {
  Shape stored = spec.shape;
  stored[extent] = 1;
  spec.strides = strides_of_rows(stored, stored.back());
  spec.strides[extent] = 0;
}

/// Takes the first columns of longer rows, and the first rows of higher matrices.
void cut(TensorSpec& spec, std::int64_t more_columns, std::int64_t more_rows) {
  const std::size_t last = spec.shape.size() - 1;
  spec.strides = strides_of_rows(spec.shape, spec.row_elements() + more_columns);
  std::int64_t matrix = spec.strides[last - 1] * (spec.shape[last - 1] + more_rows);
  for (std::size_t i = last - 1; i-- > 0; matrix *= spec.shape[i]) spec.strides[i] = matrix;
}

using Change = std::function<void(TensorSpec&, std::int64_t place)>;

/// Changes those of the tensors that have rows, and returns their number.
std::int64_t change_those(std::vector<TensorSpec>& tensors, const Change& change,
                          bool (*takes)(const TensorSpec&) = has_rows) {
  std::int64_t changed = 0;
  for (TensorSpec& spec : tensors) {
    if (takes(spec)) change(spec, changed++);
  }
  return changed;
}

/// Changes the `place`-th input of rows alone, from the last one on for -1, if it has others beside
/// it.
std::int64_t change_one(std::vector<TensorSpec>& inputs, std::int64_t place,
                        void (*change)(TensorSpec&)) {
  const std::int64_t count = std::ranges::count_if(inputs, has_rows);
  if (count < 2) return 0;
  const std::int64_t chosen = place < 0 ? count + place : place;
  change_those(inputs, [&](TensorSpec& spec, std::int64_t i) {
    if (i == chosen) change(spec);
  });
  return 1;
}

// No two tensors have rows as far apart: kernels take the distance of one for another's. Odd gaps
// let rows of narrow elements begin at any address.
std::int64_t gap_of_input(std::int64_t place) { return 5 + 2 * place; }
std::int64_t gap_of_output(std::int64_t place) { return 3 + place; }

struct View {
  std::string_view name;
  /// Returns the number of tensors that are views now.
  std::int64_t (*lay_out)(Signature&);
};

constexpr View views[] = {
    {"transposed",
     [](Signature& s) {
       return change_those(s.inputs, [](TensorSpec& spec, std::int64_t) { transpose(spec); });
     }},
    {"first_transposed", [](Signature& s) { return change_one(s.inputs, 0, transpose); }},
    {"last_transposed", [](Signature& s) { return change_one(s.inputs, -1, transpose); }},
    {"all_transposed",
     [](Signature& s) {
       return change_those(s.inputs,
                           [](TensorSpec& spec, std::int64_t i) {
                             transpose_apart(spec, gap_of_input(i));
                           }) +
              change_those(s.outputs, [](TensorSpec& spec, std::int64_t i) {
                transpose_apart(spec, gap_of_output(i));
              });
     }},
    {"stepped",
     [](Signature& s) {
       return change_those(
           s.inputs, [](TensorSpec& spec, std::int64_t) { step(spec, 3, 2); }, has_several);
     }},
    {"every_second",
     [](Signature& s) {
       return change_those(
           s.inputs, [](TensorSpec& spec, std::int64_t) { step(spec, 2, 1); }, has_several);
     }},
    {"padded",
     [](Signature& s) {
       return change_those(s.inputs, [](TensorSpec& spec,
                                        std::int64_t i) { cut(spec, gap_of_input(i), 1); }) +
              change_those(s.outputs, [](TensorSpec& spec, std::int64_t i) {
                cut(spec, gap_of_output(i), 0);
              });
     }},
    {"padded_output",
     [](Signature& s) {
       return change_those(
           s.outputs, [](TensorSpec& spec, std::int64_t i) { cut(spec, gap_of_output(i), 2); });
     }},
    {"part",
     [](Signature& s) {
       return change_those(
           s.inputs, [](TensorSpec& spec, std::int64_t i) { cut(spec, 0, gap_of_input(i)); },
           has_matrices);
     }},
    {"expanded",
     [](Signature& s) {
       return change_those(s.inputs, [](TensorSpec& spec, std::int64_t) { expand(spec, 0); });
     }},
    {"last_expanded",
     [](Signature& s) {
       return change_one(s.inputs, -1, [](TensorSpec& spec) { expand(spec, 0); });
     }},
    {"expanded_columns",
     [](Signature& s) {
       return change_those(
           s.inputs, [](TensorSpec& spec, std::int64_t) { expand(spec, spec.shape.size() - 1); });
     }},
};

Signature viewed(Signature s, std::string_view op, std::string_view view) {
  const auto refuse = [&](std::string_view why) -> void {
    throw NotApplicable(std::string(op) + ": view=" + std::string(view) + " " + std::string(why));
  };
  for (const auto* tensors : {&s.inputs, &s.outputs}) {
    if (!std::ranges::all_of(*tensors, &TensorSpec::is_dense))
      refuse("and ld both say where rows lie: leave one of them out");
  }
  if (std::ranges::find(views, view, &View::name)->lay_out(s) == 0)
    refuse(
        "changes nothing here: it takes tensors of rows and columns, or of matrices, or several");
  for (const TensorSpec& spec : s.inputs)
    s.bytes -= as_double(spec.elements() - spec.distinct_elements()) *
               as_double(static_cast<std::int64_t>(size_bytes(spec.dtype)));
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
  std::vector<std::string_view> choices{dense};
  for (const View& view : views) choices.push_back(view.name);
  op.parameters.push_back(optional_choice("view", choices));
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
