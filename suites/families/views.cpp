#include <string_view>
#include <vector>

#include "suites/suite.h"

namespace assay {
namespace {

using enum DType;
using enum ProductFormat;
using enum Level;

/// Ways in which the elements of tensors lie (kernels/ops/views.h).
const Axis every_view = axis("view", {{seeds, "transposed"},
                                      {smoke, "first_transposed"},
                                      {seeds, "last_transposed"},
                                      {smoke, "all_transposed"},
                                      {seeds, "stepped"},
                                      {smoke, "every_second"},
                                      {seeds, "padded"},
                                      {smoke, "padded_output"},
                                      {smoke, "part"},
                                      {seeds, "expanded"},
                                      {smoke, "last_expanded"},
                                      {seeds, "expanded_columns"}});
/// Leaves out rows of one element over and over: their softmax says nothing, nor do their products.
const Axis every_view_of_rows = [] {
  Axis views = every_view;
  views.points.pop_back();
  return views;
}();
const Axis transposed = axis("view", {{seeds, "transposed"}});
const Axis first_transposed = axis("view", {{seeds, "first_transposed"}});
/// Views that tensors of one extent have.
const Axis steps = axis("view", {{seeds, "stepped"}, {smoke, "every_second"}});

/// Prime extents.
const Axis elements{{"n", "cols"}, {{seeds, {1891, 61}}}};
/// Whole tiles; equal extents, which hide that they were exchanged; and rows longer than a block.
const Axis more_elements{{"n", "cols"},
                         {{smoke, {6144, 96}}, {smoke, {2304, 48}}, {in_turns, {22660, 1030}}}};
const Axis lines = axis("n", {{seeds, 1003}, {in_turns, 8206}});
/// Prime extents, rows of whole vectors, and short columns of them.
const Axis few_axes{{"outer", "n", "inner"},
                    {{seeds, {3, 61, 33}}, {in_turns, {4, 64, 1}}, {in_turns, {2, 6, 4}}}};
/// Whole vectors, equal extents, and lines longer than a block.
const Axis more_axes{
    {"outer", "n", "inner"},
    {{in_turns, {2, 96, 40}}, {in_turns, {2, 130, 130}}, {in_turns, {1, 3000, 2}}}};
const Axis long_lines{{"outer", "n", "inner"}, {{in_turns, {1, 3000, 4}}}};
const Axis slices{
    {"outer", "n", "inner", "start", "count", "step"},
    {{seeds, {3, 61, 33, 4, 19, 3}}, {smoke, {4, 64, 1, 0, 32, 2}}, {smoke, {2, 6, 4, 1, 5, 1}}}};
const Axis repeats{{"outer", "n", "inner"}, {{seeds, {61, 33, 1}}, {smoke, {3, 5, 72}}}};
const Axis more_repeats{{"outer", "n", "inner"}, {{standard, {61, 33, 1}}, {standard, {3, 5, 72}}}};
const Axis rows{{"rows", "cols"}, {{seeds, {33, 61}}, {in_turns, {18, 1032}}}};
const Axis greatest{{"rows", "cols", "k"}, {{seeds, {33, 61, 5}}, {in_turns, {6, 1500, 12}}}};
const Axis tables{{"rows", "cols", "count"}, {{seeds, {61, 33, 40}}, {smoke, {61, 40, 33}}}};
const Axis heads{{"batch", "m", "n", "k"}, {{seeds, {3, 5, 7, 11}}, {in_turns, {4, 66, 40, 130}}}};
const Axis layers{{"batch", "in", "out"}, {{seeds, {16, 64, 33}}, {in_turns, {66, 130, 257}}}};
/// As a framework's transposed copy, and a sum with a transposed operand.
const Axis large = growing("n", {{"n", "cols"}, {{standard, {16777216, 4096}}}});

const std::vector<Format> all{f64, f32, bf16, f16, i64, i32, i8, u8};
const std::vector<Format> of_products{f64, f32, bf16, f16, tf32};

using Names = std::vector<std::string_view>;
const Names elementwise{"copy",  "neg",     "abs",   "add",       "sub",  "mul",  "div",  "fma",
                        "scale", "min",     "max",   "square",    "relu", "less", "sqrt", "equal",
                        "where", "clamp",   "isnan", "floor",     "ceil", "exp",  "log",  "tanh",
                        "round", "sigmoid", "gelu",  "gelu_tanh", "pow",  "fill"};
const Names of_integers{"floor_divide", "remainder", "shift_left", "shift_right",
                        "bit_and",      "bit_or",    "bit_xor",    "bit_not"};
const Names reductions{"sum",       "prod",       "dot",        "norm2",  "scan",  "mean",
                       "logsumexp", "reduce_min", "reduce_max", "argmax", "argmin"};
const Names along_axes{"sum_axis",       "prod_axis",   "mean_axis",       "norm2_axis",
                       "logsumexp_axis", "scan_axis",   "reduce_min_axis", "reduce_max_axis",
                       "argmax_axis",    "argmin_axis", "softmax_axis",    "layernorm_axis"};
const Names of_more_axes{"sum_axis", "argmax_axis", "softmax_axis"};
const Names repeated{"add_broadcast", "mul_broadcast", "div_broadcast", "max_broadcast",
                     "less_broadcast"};
const Names normalisations{"softmax", "layernorm", "rmsnorm"};

}  // namespace

Suite views_suite() {
  const Axis either = axis("repeat", {{seeds, "a"}, {seeds, "b"}});
  const Axis any_of_three = axis("repeat", {{seeds, "mask"}, {seeds, "a"}, {seeds, "b"}});
  const Axis to = axis("to", {{seeds, "bf16"}, {seeds, "i64"}, {seeds, "u8"}});
  const Axis ends{{"before", "after"}, {{seeds, {2, 5}}}};
  const Axis bias = axis("bias", {{seeds, 1}});
  const Axis none = axis("act", {{seeds, "none"}});
  const std::vector<Format> of_sizes{f64, f32, u8};
  std::vector<Grid> grids{
      {elementwise, {f32, i32}, {every_view, elements}},
      {{"copy", "add", "fma", "less", "where", "exp"}, all, {every_view, elements}},
      {{"copy", "add", "where"}, {f32, u8}, {every_view, more_elements}},
      {of_integers, {i32, u8}, {every_view, elements}},
      {{"cast"}, {f32, f16, i32}, {to, every_view, elements}},
      {repeated, {f32}, {either, every_view, repeats}},
      {repeated, {bf16}, {either, every_view, more_repeats}},
      {{"where_broadcast"}, {f32}, {any_of_three, every_view, repeats}},
      {{"where_broadcast"}, {u8}, {any_of_three, every_view, more_repeats}},
      {reductions, {f32, i32}, {steps, lines}},
      {{"sum", "reduce_max", "scan"}, {f64, bf16, f16, i64, u8}, {steps, lines}},
      {along_axes, {f32, i32}, {every_view, few_axes}},
      {of_more_axes, {f32, bf16, u8}, {every_view, more_axes}},
      {{"sort", "argsort", "unique"}, {f32, i32, u8}, {steps, lines}},
      {{"sort_axis", "argsort_axis"}, of_sizes, {every_view, few_axes}},
      {{"sort_axis", "argsort_axis", "flip"}, of_sizes, {every_view, long_lines}},
      {{"topk"}, of_sizes, {every_view, greatest}},
      {{"gather"}, of_sizes, {every_view, tables}},
      {{"flip"}, of_sizes, {every_view, few_axes}},
      {{"concat"}, of_sizes, {every_view, few_axes, axis("m", {{seeds, 7}})}},
      {{"slice"}, of_sizes, {every_view, slices}},
      {{"pad"}, of_sizes, {every_view, few_axes, ends}},
      {{"repeat"}, of_sizes, {every_view, few_axes, axis("times", {{seeds, 3}})}},
      {normalisations, {f32, bf16}, {every_view_of_rows, rows}},
      {{"batched_matmul"}, of_products, {every_view_of_rows, heads}},
      {{"linear"}, of_products, {every_view_of_rows, layers, bias, none}},
      {{"linear_dx", "linear_dw"}, of_products, {every_view_of_rows, layers}}};
  for (Grid& grid : grids) grid.timed_from = never;
  grids.push_back({{"copy"}, {f32, bf16}, {transposed, large}});
  grids.push_back({{"add"}, {f32}, {first_transposed, large}});
  return {
      .order = 3,
      .name = "views",
      .description = "tensor ops and layers on transposed, stepped, padded and expanded tensors",
      .grids = std::move(grids)};
}

}  // namespace assay
