#include "suites/boundaries.h"
#include "suites/piece_grids.h"
#include "suites/suite.h"

namespace assay {
namespace {

using enum DType;
using enum ProductFormat;
using enum Level;

/// Sizes: none; one; three, as in [1, 2, 3] squared; an odd number of several vectors.
const Axis small = axis("n", {{seeds, 0}, {seeds, 1}, {seeds, 3}, {seeds, 1003}});
/// Sizes without none, for ops that are not defined for no elements.
const Axis some = axis("n", {{seeds, 1}, {seeds, 3}, {seeds, 1003}});
/// A prime above a page, and above what 16 bits count.
const Axis above_a_page = axis("n", {{in_turns, 65537}});
/// As many, of each format that a grid names.
const Axis above_a_page_of_each = axis("n", {{smoke, 65537}});
/// Whole vectors and blocks, six of 1024; and several of them with half a vector behind.
const Axis whole_blocks = axis("n", {{smoke, 6144}, {smoke, 4102}});
/// Without a tail, of each dtype: a kernel of vectors alone, which may have loops of its own.
const Axis whole_vectors = axis("n", {{smoke, 3072}});
/// Whole rounds of blocks.
const Axis whole_rounds = axis("n", {{smoke, 8192}});
/// A third level of partial results.
Axis third_level(Level level) { return axis("n", {{level, 300007}}); }
/// Rows of a prime length within wider ones, whose gaps are guarded. With an odd `ld` rows start at
/// any distance from an aligned address.
const Axis strided{{"n", "cols", "ld"},
                   {{seeds, {610, 61, 64}},
                    {smoke, {2400, 60, 67}},
                    {smoke, {2560, 64, 72}},
                    {standard, {1048567, 1021, 1024}}}};
/// Beyond the last cache, 16 Mi or what the devices need; a prime beyond the first caches; and one
/// beyond most last caches.
const Axis large =
    growing("n", axis("n", {{standard, 16777216}, {full, 1048573}, {full, 67108859}}));
const Axis large_in_full = growing("n", axis("n", {{full, 16777216}}));
/// Elements of a sweep that shows the caches: from 4 KiB of f32 on, beyond those of the devices.
constexpr int first_power = 10, last_power = 25;
/// Sizes up to the usual last caches from `most` on, all others in the full profile.
Axis sweep(Level most) {
  Axis sizes{{"n"}, {}};
  for (int power = first_power; power <= last_power; ++power)
    sizes.points.push_back({power < 24 ? most : full, {std::int64_t{1} << power}});
  return sweeping("n", std::move(sizes));
}
/// As many elements in rows of 1024.
Axis sweep_of_rows() {
  Axis sizes{{"rows", "cols"}, {}};
  for (int power = first_power; power <= last_power; ++power)
    sizes.points.push_back({full, {std::int64_t{1} << (power - first_power), 1024}});
  return sweeping("rows", std::move(sizes));
}
/// Reductions along an axis: (outer, n, inner) to (outer, inner). No larger than what is shown at
/// each border of each line (kernels/ops/passes.cpp).
const Axis small_axes{
    {"outer", "n", "inner"},
    {{seeds, {5, 61, 1}}, {seeds, {1, 61, 33}}, {seeds, {3, 1003, 2}}, {smoke, {4, 1, 12}}}};
Axis larger_axes(Level level) {
  return {{"outer", "n", "inner"},
          {{level, {8, 24, 640}},
           {level, {3, 16384, 1}},
           {level, {1, 4099, 64}},
           {level, {2, 8206, 12}}}};
}
const Axis empty_lines{{"outer", "n", "inner"}, {{seeds, {3, 0, 2}}}};
/// More elements of a line, lines and matrices than 16 bits count.
Axis beyond_16_bits(Level level) {
  return {{"outer", "n", "inner"},
          {{level, {1, 65539, 3}}, {level, {70001, 2, 1}}, {level, {1, 2, 70001}}}};
}
/// Rows of several tiles, whole or not, that begin at any address.
const Axis tiles_of_rows{{"outer", "n", "inner"}, {{smoke, {3, 8191, 1}}, {smoke, {2, 20483, 1}}}};
/// Rows of an odd number of warps side by side.
const Axis whole_warps{{"outer", "n", "inner"}, {{smoke, {3, 9, 160}}}};
/// Extents that kernels take for each other.
const Axis equal_extents{{"outer", "n", "inner"},
                         {{smoke, {24, 24, 12}}, {smoke, {24, 12, 24}}, {smoke, {12, 24, 24}}}};
Axis axes(Level level) {
  return pairwise(level,
                  {{"outer", {{1, "one matrix"}, {7, "an odd number"}, {66, "more than threads"}}},
                   {"n",
                    {{2, "one pair"},
                     {34, "two above a warp"},
                     {96, "whole vectors: three warps"},
                     {1028, "four above the largest block"}}},
                   {"inner",
                    {{1, "rows"},
                     {3, "less than a vector"},
                     {31, "one below a warp"},
                     {72, "whole vectors: no tail"},
                     {258, "two above a block, and 8 bits"}}}},
                  1 << 17);
}
/// For ops of O(n log n), which take longer. The last lines are long enough for all threads each.
const Axis small_sorted_axes{{"outer", "n", "inner"},
                             {{seeds, {5, 61, 1}},
                              {seeds, {1, 61, 33}},
                              {seeds, {3, 1003, 2}},
                              {smoke, {4, 1, 12}},
                              {in_turns, {8, 24, 320}},
                              {smoke, {3, 64, 1}},
                              {in_turns, {2, 4096, 3}},
                              {in_turns, {2, 32771, 1}}}};
const Axis large_sorted_axes = growing("n", {{"outer", "n", "inner"},
                                             {{standard, {1024, 1024, 1}},
                                              {full, {1, 1024, 1024}},
                                              {full, {16384, 1024, 1}},
                                              {full, {4, 1048576, 1}}}});
/// Both ways through a matrix, and the middle of three extents.
const Axis large_axes = growing("n", {{"outer", "n", "inner"},
                                      {{standard, {4096, 4096, 1}},
                                       {standard, {1, 4096, 4096}},
                                       {full, {64, 1024, 256}},
                                       {full, {1, 1048576, 16}}}});
/// Operands of (outer, inner) repeated along n: a scalar, a row, a column, or in the middle.
const Axis of_two = axis("repeat", {{seeds, "a"}, {seeds, "b"}});
const Axis of_where = axis("repeat", {{seeds, "mask"}, {seeds, "a"}, {seeds, "b"}});
const Axis small_repeats{
    {"outer", "n", "inner"},
    {{seeds, {61, 33, 1}}, {seeds, {3, 5, 7}}, {smoke, {1, 1003, 1}}, {smoke, {2, 96, 96}}}};
Axis repeats(Level level) {
  return {{"outer", "n", "inner"},
          {{level, {1, 33, 61}},
           {level, {1, 6, 24}},
           {level, {8, 12, 6}},
           {level, {3, 24, 12}},
           {level, {2, 3, 4099}},
           {level, {7, 1028, 2}},
           {level, {2, 4, 256}},
           {level, {66, 1, 40}},
           {level, {1, 1, 258}}}};
}
const Axis empty_repeats{{"outer", "n", "inner"}, {{seeds, {3, 0, 2}}}};
/// A layer's bias, and a factor of each row.
const Axis large_repeats = growing(
    "n", {{"outer", "n", "inner"}, {{standard, {1, 16384, 1024}}, {standard, {16384, 1024, 1}}}});
/// As many elements in squares, or two of them.
Axis sweep_of_squares() {
  Axis sizes{{"rows", "cols"}, {}};
  for (int power = first_power; power <= last_power; ++power)
    sizes.points.push_back(
        {full, {std::int64_t{1} << ((power + 1) / 2), std::int64_t{1} << (power / 2)}});
  return sweeping("rows", std::move(sizes));
}
/// Sizes for ops of O(n log n).
const Axis sortable = growing("n", axis("n", {{standard, 1048573}, {full, 16777216}}));
const Axis sortable_in_full = growing("n", axis("n", {{full, 1048573}}));
/// Sizes for one op of each kind, timed at all levels so that the quick ones measure something too.
const Axis quick = axis("n", {{seeds, 1003}, {smoke, 1048573}});

const Axis small_rows{{"rows", "cols"},
                      {{seeds, {2, 3}},
                       {seeds, {16, 1003}},
                       {smoke, {3, 4096}},
                       {smoke, {48, 48}},
                       {smoke, {2053, 1}}}};
Axis larger_rows(Level level) {
  return {{"rows", "cols"}, {{level, {1, 65537}}, {level, {1021, 128}}}};
}
const Axis strided_rows{{"rows", "cols", "ld"},
                        {{seeds, {5, 61, 64}},
                         {smoke, {40, 60, 67}},
                         {smoke, {18, 64, 72}},
                         {standard, {1021, 768, 1024}}}};
const Axis large_rows = growing(
    "rows",
    {{"rows", "cols"}, {{standard, {4096, 1024}}, {full, {16384, 1024}}, {full, {16384, 4096}}}});
/// The k greatest of rows: all of them, one, and more than a warp's.
const Axis small_selections{{"rows", "cols", "k"},
                            {{seeds, {2, 3, 3}},
                             {seeds, {5, 61, 1}},
                             {seeds, {16, 1003, 8}},
                             {smoke, {257, 128, 4}},
                             {smoke, {48, 48, 48}},
                             {smoke, {9, 257, 32}},
                             {smoke, {4, 3000, 10}}}};
/// Queues of several warps, whole and not, and rows of which each takes several blocks.
const Axis longer_selections{{"rows", "cols", "k"},
                             {{smoke, {5, 320, 64}},
                              {smoke, {7, 300, 200}},
                              {smoke, {3, 8200, 16}},
                              {standard, {4, 20000, 256}}}};
/// More rows and places than 16 bits count.
const Axis selections_beyond_16_bits{{"rows", "cols", "k"},
                                     {{in_turns, {1, 65539, 100}}, {in_turns, {70001, 3, 2}}}};
/// A sampler's choices: of a router's scores, and of a vocabulary's.
const Axis large_selections = growing(
    "rows", {{"rows", "cols", "k"}, {{standard, {4096, 1024, 8}}, {full, {32, 131072, 64}}}});
const Axis small_matrices{{"rows", "cols"},
                          {{seeds, {1, 1}},
                           {seeds, {3, 5}},
                           {seeds, {37, 61}},
                           {smoke, {257, 1021}},
                           {smoke, {192, 192}}}};
const Axis large_matrices =
    growing("rows", {{"rows", "cols"}, {{standard, {4096, 4096}}, {full, {8191, 8192}}}});
/// An embedding: rows of a table, chosen by indices.
const Axis small_tables{
    {"rows", "cols", "count"},
    {{seeds, {5, 3, 7}}, {seeds, {101, 33, 0}}, {smoke, {1021, 61, 509}}, {smoke, {101, 160, 36}}}};
const Axis large_tables = growing(
    "count",
    {{"rows", "cols", "count"}, {{standard, {30522, 768, 4096}}, {full, {128256, 1024, 16384}}}});
/// Products of the size of an attention's heads.
const Axis small_heads{{"batch", "m", "n", "k"},
                       {{seeds, {1, 1, 1, 1}}, {seeds, {3, 5, 7, 11}}, {smoke, {12, 64, 60, 60}}}};
const Axis large_heads{{"batch", "m", "n", "k"},
                       {{standard, {96, 128, 128, 64}}, {full, {32, 1024, 1024, 128}}}};

/// Lengths around vectors, warps, blocks of threads and pages.
Axis lengths(Level level) {
  return pairwise(level,
                  {{"n",
                    {{2, "one pair"},
                     {31, "one below a warp"},
                     {32, "a whole warp: no tail"},
                     {40, "whole vectors above a warp"},
                     {134, "six above several vectors"},
                     {257, "one above a block, and 8 bits"},
                     {1024, "a whole block: no tail"},
                     {1028, "four above the largest block"},
                     {4099, "three above several blocks"}}}},
                  0);
}
/// For the many elementwise ops: those with whole vectors, and with the shortest tails.
Axis lengths_of_elements(Level level) {
  return pairwise(level,
                  {{"n",
                    {{6, "less than a vector"},
                     {40, "whole vectors: no tail"},
                     {1028, "four above the largest block"},
                     {3072, "whole blocks: no tail"}}}},
                  0);
}
Axis rows(Level level) {
  return pairwise(
      level,
      {{"rows", {{1, "one row"}, {7, "an odd number of rows"}, {66, "more than threads"}}},
       {"cols",
        {{2, "one pair"},
         {31, "one below a warp"},
         {40, "whole vectors above a warp"},
         {96, "whole vectors: three warps"},
         {258, "two above a block, and 8 bits"},
         {1028, "four above the largest block"},
         {3072, "three whole blocks"},
         {4097, "a row in several parts"}}}},
      1 << 20);
}
/// More rows than a grid's second and third extents hold.
const Axis many_rows{{"rows", "cols"}, {{standard, {70001, 3}}, {standard, {64, 2048}}}};
/// More rows than a grid's first extent holds in blocks of one row on some devices.
const Axis millions_of_rows{{"rows", "cols"}, {{standard, {8388608, 3}}}};
/// Beyond a grid of many blocks, for dtypes whose sizes otherwise end before.
const Axis million = axis("n", {{standard, 1048573}});
/// More products than a grid's third extent holds.
const Axis many_products{{"batch", "m", "n", "k"}, {{standard, {65536, 1, 1, 1}}}};
/// Long rows of a table.
const Axis long_rows{{"rows", "cols", "count"}, {{standard, {5, 8960, 3}}}};
Axis selections(Level level) {
  return pairwise(
      level,
      {{"rows", {{1, "one row"}, {7, "an odd number of rows"}, {66, "more than threads"}}},
       {"cols",
        {{72, "whole vectors, half a warp's more"},
         {96, "whole vectors: three warps"},
         {258, "two above a block, and 8 bits"},
         {1028, "four above the largest block"},
         {4097, "a row in several parts"}}},
       {"k", {{1, "one"}, {2, "one pair"}, {31, "one below a warp"}, {70, "more than two warps"}}}},
      1 << 17);
}
Axis matrices(Level level) {
  return pairwise(level,
                  {{"rows",
                    {{1, "one row"},
                     {31, "one below a tile of 32"},
                     {32, "a whole tile"},
                     {66, "two above a tile of 64"},
                     {70001, "past 16 bits"}}},
                   {"cols",
                    {{1, "one column"},
                     {2, "less than a vector"},
                     {34, "two above a tile of 32"},
                     {72, "whole vectors above a tile of 64"},
                     {100, "half a vector above a tile of 96"},
                     {127, "one below a tile of 128"}}}},
                  3 << 20);
}
Axis tables(Level level) {
  return pairwise(
      level,
      {{"rows",
        {{1, "one row"},
         {257, "indices past 8 bits"},
         {33001, "indices past 15 bits"},
         {70001, "indices past 16 bits"}}},
       {"cols",
        {{1, "one column"},
         {7, "rows at any address"},
         {12, "half a vector behind whole ones"},
         {34, "two above a warp"},
         {40, "whole vectors"}}},
       {"count", {{1, "one index"}, {255, "one below a block"}, {1026, "several blocks"}}}},
      1e12);
}
Axis heads(Level level) {
  return pairwise(level,
                  {{"batch", {{1, "one product"}, {3, "an odd number"}, {66, "more than threads"}}},
                   {"m",
                    {{1, "one row"},
                     {5, "fewer rows than any tile"},
                     {34, "two above a tile of 32"},
                     {127, "one below a tile of 128"}}},
                   {"n",
                    {{1, "one column"},
                     {31, "one below a tile of 32"},
                     {40, "whole vectors above a tile of 32"},
                     {130, "two above a tile of 128"},
                     {160, "whole tiles of 32"}}},
                   {"k",
                    {{1, "one term: no sum"},
                     {3, "fewer terms than a vector"},
                     {65, "one above a tile of 64"},
                     {194, "two above a tile of 192"},
                     {1032, "a sum that half precision does not hold"}}}},
                  1 << 22);
}
const Axis long_heads{
    {"batch", "m", "n", "k"},
    {{smoke, {1, 16, 17, 2304}}, {standard, {2, 16, 17, 4096}}, {standard, {1, 16, 17, 16384}}}};
/// Offsets and an index of an odd number past 24 bits, which no f32 holds.
const Axis past_24_bits_in_rows{{"rows", "cols", "count"}, {{standard, {70002, 253, 7}}}};
const Axis past_24_bits = axis("n", {{standard, 16777219}});
const Axis past_24_bits_in_full = axis("n", {{full, 16777219}});
/// More tiles of 1024 than a block has threads.
const Axis past_20_bits = axis("n", {{standard, 1053577}});

const std::vector<Format> floats{f64, f32, bf16, f16};
const std::vector<Format> all{f64, f32, bf16, f16, i64, i32, i8, u8};
const std::vector<Format> all_formats{f64, f32, bf16, f16, i64, i32, i8, u8, e4m3, e5m2};
/// Those that are only converted from and to.
const std::vector<Format> converted{DType::i16, DType::u16, DType::u32, DType::u64, DType::boolean};
const std::vector<Format> of_products{f64, f32, bf16, f16, tf32};

/// Block-scaled formats, in rows of whole blocks.
const Axis to_blocks = axis("to", {{seeds, "mxfp8"}, {seeds, "mxfp4"}, {seeds, "nvfp4"}});
const Axis small_blocks{
    {"rows", "cols"},
    {{seeds, {1, 32}}, {seeds, {7, 96}}, {smoke, {257, 544}}, {standard, {512, 2048}}}};
const Axis large_blocks{{"rows", "cols"}, {{standard, {4096, 4096}}}};
const Axis large_blocks_in_full{{"rows", "cols"}, {{full, {4096, 4096}}}};

using Names = std::vector<std::string_view>;
const Names elementwise{"fill", "copy",    "neg",   "abs",    "add",       "sub", "mul",
                        "div",  "fma",     "scale", "square", "sqrt",      "exp", "log",
                        "tanh", "sigmoid", "relu",  "gelu",   "gelu_tanh", "pow", "min",
                        "max",  "less",    "equal", "where"};
/// Those whose speed is that of the others: timed in the full profile alone.
const Names more_elementwise{"floor",        "ceil",      "round",      "isnan",       "clamp",
                             "floor_divide", "remainder", "shift_left", "shift_right", "bit_and",
                             "bit_or",       "bit_xor",   "bit_not"};
const Names reductions{"sum", "prod", "dot", "norm2", "scan"};
const Names reductions_of_some{"mean", "logsumexp", "reduce_min", "reduce_max", "argmax", "argmin"};
const Names along_axes{"sum_axis",       "prod_axis",   "mean_axis",       "norm2_axis",
                       "logsumexp_axis", "scan_axis",   "reduce_min_axis", "reduce_max_axis",
                       "argmax_axis",    "argmin_axis", "softmax_axis",    "layernorm_axis"};
/// One for each way through an axis: a value of a line, a place in it, sums so far, whole lines.
const Names of_each_kind{"sum_axis", "argmax_axis", "scan_axis", "softmax_axis"};
const Names sorts{"sort", "argsort", "unique"};
const Names sorts_along_axes{"sort_axis", "argsort_axis"};
const Names of_arrays{"sum",        "prod",       "dot",    "norm2",     "scan",
                      "sort",       "argsort",    "unique", "logsumexp", "mean",
                      "reduce_min", "reduce_max", "argmax", "argmin"};
const Names repeated{"add_broadcast", "sub_broadcast", "mul_broadcast",  "div_broadcast",
                     "min_broadcast", "max_broadcast", "less_broadcast", "equal_broadcast"};
const Names where_repeated{"where_broadcast"};
/// Those that are defined for no elements too.
const Names sums_along_axes{"sum_axis", "prod_axis", "norm2_axis", "scan_axis"};
const Names normalisations{"softmax", "layernorm", "rmsnorm"};

/// Grids of elementwise ops on error-prone shapes.
std::vector<Grid> elements() {
  const Axis to = axis("to", {{seeds, "f64"},
                              {seeds, "f32"},
                              {seeds, "bf16"},
                              {seeds, "f16"},
                              {seeds, "i64"},
                              {seeds, "i32"},
                              {seeds, "i8"},
                              {seeds, "u8"},
                              {seeds, "e4m3"},
                              {seeds, "e5m2"}});
  const auto to_converted = [](Level level) {
    return axis("to",
                {{level, "i16"}, {level, "u16"}, {level, "u32"}, {level, "u64"}, {level, "bool"}});
  };
  const Axis to_some =
      axis("to", {{seeds, "f32"}, {seeds, "bf16"}, {seeds, "i64"}, {seeds, "u8"}, {seeds, "bool"}});
  const Axis to_others = axis("to", {{standard, "f64"},
                                     {standard, "f16"},
                                     {standard, "i32"},
                                     {standard, "i8"},
                                     {standard, "e4m3"},
                                     {standard, "e5m2"},
                                     {standard, "i16"},
                                     {standard, "u16"},
                                     {standard, "u32"},
                                     {standard, "u64"}});
  const Axis casts = axis("n", {{seeds, 1003}, {in_turns, 65537}});
  const Axis seed = axis("seed", {{seeds, 1}});
  const Axis to_f32 = axis("to", {{seeds, "f32"}});
  return {{elementwise, all, {small}},
          {elementwise, all, {above_a_page}},
          {elementwise, {f32}, {above_a_page_of_each}},
          {elementwise, all, {strided}},
          {more_elementwise, all, {small}},
          {more_elementwise, all, {above_a_page}},
          {more_elementwise, all, {strided}},
          {{"cast"}, all_formats, {to, casts}},
          {{"cast"}, {f64, f32, f16, i64, u8}, {to_converted(seeds), casts}},
          {{"cast"}, {bf16, i32, i8, e4m3, e5m2}, {to_converted(standard), casts}},
          {{"cast"}, converted, {to_some, casts}},
          {{"cast"}, converted, {to_others, casts}},
          {{"cast"}, {f32}, {to, above_a_page_of_each}},
          {{"cast"}, {f32}, {to_converted(smoke), whole_vectors}},
          {{"cast"}, converted, {to_f32, whole_vectors}},
          {{"random"}, all, {small, seed}},
          {{"random"}, all, {above_a_page, seed}},
          {elementwise, {f32}, {lengths_of_elements(smoke)}},
          {more_elementwise, {f32, i32}, {lengths_of_elements(smoke)}},
          {elementwise, {f64, bf16, f16, i64, i32, i8, u8}, {whole_vectors}},
          {{"cast"}, all_formats, {to, whole_vectors}},
          {{"random"}, {f64, bf16, f16, i64, i32, u8}, {whole_vectors, seed}},
          {more_elementwise, {f64, bf16, f16, i64, u8}, {whole_vectors}},
          {{"cast"}, {f32}, {axis("to", {{seeds, "bf16"}}), lengths_of_elements(smoke)}},
          {{"random"}, {f32}, {lengths_of_elements(smoke), seed}},
          {elementwise, {f64, bf16, f16, i64, i32, i8, u8}, {lengths_of_elements(standard)}},
          {more_elementwise, {f64, bf16, f16, i64, u8}, {lengths_of_elements(standard)}}};
}

/// Grids of elementwise ops with a repeated operand.
std::vector<Grid> repetitions() {
  std::vector<Grid> grids;
  const auto add = [&](const std::vector<Format>& formats, const Axis& extents) {
    grids.push_back({repeated, formats, {of_two, extents}});
    grids.push_back({where_repeated, formats, {of_where, extents}});
  };
  add(all, small_repeats);
  add({f32}, repeats(smoke));
  add({f64, bf16, f16, i64, i32, i8, u8}, repeats(in_turns));
  add({f32}, equal_extents);
  add({f32, bf16}, empty_repeats);
  add({f32, u8}, beyond_16_bits(standard));
  grids.push_back(
      {{"add_broadcast", "less_broadcast"}, {f32, u8}, {of_two, beyond_16_bits(in_turns)}});
  grids.push_back({where_repeated, {f32, u8}, {of_where, beyond_16_bits(in_turns)}});
  return grids;
}

/// Grids of ops along an axis on error-prone shapes.
std::vector<Grid> lines() {
  return {{along_axes, all, {small_axes}},
          {along_axes, {f32}, {larger_axes(smoke)}},
          {along_axes, {f64, bf16, f16, i64, i32, i8, u8}, {larger_axes(standard)}},
          {sums_along_axes, all, {empty_lines}},
          {sorts_along_axes, all, {small_sorted_axes}},
          {sorts_along_axes, all, {empty_lines}},
          {sorts_along_axes, {f32}, {equal_extents}},
          {{"argsort_axis"}, {f32, u8}, {beyond_16_bits(in_turns)}},
          {{"sort_axis"}, {f32, u8}, {beyond_16_bits(standard)}},
          {sorts_along_axes, {f32}, {axes(smoke)}},
          {sorts_along_axes, {f32}, {whole_warps}},
          {sorts_along_axes, {f64, bf16, f16, i64, i32, u8}, {axes(standard)}},
          {along_axes, {f32}, {equal_extents}},
          {{"scan_axis"}, {f32, bf16}, {tiles_of_rows}},
          {along_axes, {f32, bf16, u8}, {beyond_16_bits(standard)}},
          {of_each_kind, {f32, bf16, u8}, {beyond_16_bits(in_turns)}},
          {along_axes, {f32}, {axes(smoke)}},
          {along_axes, {f32}, {whole_warps}},
          {along_axes, {f64, bf16, f16, i64, i32, u8}, {axes(standard)}}};
}

/// Grids of every op and dtype on error-prone shapes: many, and only checked.
std::vector<Grid> checked() {
  std::vector<Grid> grids = elements();
  const std::vector<Grid> others{
      {reductions, all, {small}},
      {reductions_of_some, all, {some}},
      {of_arrays, all, {above_a_page}},
      {{"scan"}, {f64, f32, i64, i32}, {above_a_page_of_each}},
      {{"topk"}, all, {small_selections}},
      {{"topk"}, {f32, u8}, {selections_beyond_16_bits}},
      {{"topk"}, {f32}, {selections(smoke)}},
      {{"topk"}, {f64, bf16, f16, i64, i32, u8}, {selections(standard)}},
      {{"topk"}, {f32, u8}, {longer_selections}},
      {sorts, all, {small}},
      {normalisations, floats, {small_rows}},
      {normalisations, {f32}, {larger_rows(smoke)}},
      {normalisations, {f64, bf16, f16}, {larger_rows(in_turns)}},
      {normalisations, floats, {strided_rows}},
      {{"transpose"}, all, {small_matrices}},
      {{"gather"}, all, {small_tables}},
      {{"quantize"}, {f32, bf16, f16}, {to_blocks, small_blocks}},
      {{"batched_matmul"}, of_products, {small_heads}},
      {{"batched_matmul"}, of_products, {long_heads}},
      {{"batched_matmul"}, {f32}, {heads(smoke)}},
      {{"batched_matmul"}, {f64, bf16, f16, tf32}, {heads(in_turns)}},
      {of_arrays, all, {whole_blocks}},
      {of_arrays, {f32}, {whole_rounds}},
      {sorts, {f32}, {third_level(standard)}},
      {reductions, {f32}, {third_level(smoke)}},
      {reductions_of_some, {f32}, {third_level(smoke)}},
      {reductions, {f32, i32}, {lengths(smoke)}},
      {reductions, {f64, bf16, f16, i64}, {lengths(standard)}},
      {reductions_of_some, {f32, i32}, {lengths(smoke)}},
      {reductions_of_some, {f64, bf16, f16, i64, u8}, {lengths(standard)}},
      {sorts, {f32, i32}, {lengths(smoke)}},
      {sorts, {f64, bf16, f16, i64, u8}, {lengths(standard)}},
      {{"argmax"}, {f32, u8}, {past_24_bits}},
      {{"argsort"}, {u8}, {past_24_bits_in_full}},
      {sorts, {f32, u8}, {past_20_bits}},
      {normalisations, {f32}, {rows(smoke)}},
      {normalisations, {f64, bf16, f16}, {rows(standard)}},
      {normalisations, floats, {many_rows}},
      {{"layernorm"}, {f32}, {millions_of_rows}},
      {reductions, {bf16, f16, i64, i32}, {million}},
      {reductions_of_some, {f32, bf16, f16, i64, i32, u8}, {million}},
      {{"batched_matmul"}, {f32, f16}, {many_products}},
      {{"gather"}, {f32, bf16, u8}, {long_rows}},
      {{"gather"}, {u8}, {past_24_bits_in_rows}},
      {{"transpose"}, {f32}, {matrices(smoke)}},
      {{"transpose"}, {f64, bf16, u8}, {matrices(in_turns)}},
      {{"gather"}, {f32}, {tables(smoke)}},
      {{"gather"}, {f64, bf16, u8}, {tables(standard)}}};
  for (const auto& more :
       {repetitions(), lines(), checked_pieces(equal_extents, beyond_16_bits(in_turns)), others})
    grids.insert(grids.end(), more.begin(), more.end());
  for (Grid& grid : grids) grid.timed_from = never;
  return grids;
}

/// Grids of shapes that fill a machine: f32 for every op, all dtypes for ops that people compare.
std::vector<Grid> timed() {
  const Axis to_narrow = axis("to", {{seeds, "bf16"}, {seeds, "f16"}});
  const Axis to_f32 = axis("to", {{seeds, "f32"}});
  const Axis to_bf16 = axis("to", {{seeds, "bf16"}});
  const Axis seed = axis("seed", {{seeds, 1}});
  const Axis of_second = axis("repeat", {{seeds, "b"}});
  const std::vector<Format> others{f64, bf16, f16, i64, i32, u8};
  return {{{"add", "exp", "sum"}, {f32}, {quick}},
          {{"add", "sum"}, {f32}, {sweep(standard)}},
          {{"exp", "scan"}, {f32}, {sweep(full)}},
          {{"cast"}, {f32}, {to_bf16, sweep(full)}},
          {{"softmax"}, {f32}, {sweep_of_rows()}},
          {{"transpose"}, {f32}, {sweep_of_squares()}},
          {elementwise, {f32}, {large}},
          {{"copy", "add", "relu", "gelu"}, others, {large}},
          {elementwise, others, {large_in_full}},
          {more_elementwise, all, {large_in_full}},
          {{"cast"}, {f32}, {to_narrow, large}},
          {{"cast"}, {bf16, f16, i32, u8}, {to_f32, large}},
          {{"random"}, {f32}, {large, seed}},
          {reductions, {f32}, {large}},
          {reductions_of_some, {f32}, {large}},
          {{"sum", "dot", "reduce_max"}, others, {large}},
          {reductions, others, {large_in_full}},
          {reductions_of_some, others, {large_in_full}},
          {{"sum_axis", "reduce_max_axis", "argmax_axis", "logsumexp_axis", "scan_axis",
            "softmax_axis", "layernorm_axis"},
           {f32, bf16},
           {large_axes}},
          {{"add_broadcast", "mul_broadcast"}, {f32, bf16}, {of_second, large_repeats}},
          {{"sort"}, {f32, i64, i32}, {sortable}},
          {{"argsort"}, {f32}, {sortable}},
          {{"argsort"}, {i64, i32}, {sortable_in_full}},
          {{"unique"}, {f32, i64, i32}, {sortable_in_full}},
          {sorts_along_axes, {f32}, {large_sorted_axes}},
          {{"topk"}, {f32, bf16}, {large_selections}},
          {{"softmax", "layernorm"}, floats, {large_rows}},
          {{"rmsnorm"}, {f32, bf16}, {large_rows}},
          {{"transpose"}, {f64, f32, bf16, u8}, {large_matrices}},
          {{"gather"}, {f32, bf16}, {large_tables}},
          {{"quantize"}, {bf16}, {to_blocks, large_blocks}},
          {{"quantize"}, {f32}, {to_blocks, large_blocks_in_full}},
          {{"batched_matmul"}, of_products, {large_heads}}};
}

/// Arrays, tables and rows that indices of 31 or 32 bits do not reach, in the shortest dtypes: a
/// case takes up to four times its tensors' memory.
std::vector<Grid> edge_grids() {
  const Axis elements = axis("n", {{seeds, over_2_31}});
  const Axis bytes = axis("n", {{seeds, over_2_32}});
  const Axis far_apart{{"n", "cols", "ld"}, {{seeds, {wide, 1, tall}}}};
  const Axis rows{{"rows", "cols"},
                  {{seeds, {over_2_19, 5}}, {seeds, {5, over_2_19}}, {seeds, {tall, wide}}}};
  const Axis through_matrices{{"outer", "n", "inner"},
                              {{seeds, {tall, wide, 1}}, {seeds, {1, wide, tall}}}};
  const Axis table{{"rows", "cols", "count"},
                   {{seeds, {tall, wide, 3}}, {seeds, {over_2_19, 3, over_2_19}}}};
  const Axis to_bytes = axis("to", {{seeds, "e4m3"}});
  const Axis gathered{{"rows", "cols", "count"}, {{seeds, {3, tall, tall}}}};  // over 2^32
  const Axis seed = axis("seed", {{seeds, 1}});
  const Axis heads{{"batch", "m", "n", "k"}, {{seeds, {over_2_19, 1, 64, 64}}}};
  return {{{"fill", "copy"}, {u8}, {bytes}},
          {{"add", "less"}, {u8}, {elements}},
          {{"relu", "add"}, {bf16}, {elements}},
          {{"copy"}, {u8}, {far_apart}},
          {{"cast"}, {bf16}, {to_bytes, elements}},
          {{"random"}, {u8}, {elements, seed}},
          {{"sum", "argmax"}, {f16}, {elements}},
          {{"reduce_min", "reduce_max"}, {u8}, {elements}},
          {{"dot"}, {bf16}, {elements}},
          {{"reduce_max_axis", "argmin_axis"}, {u8}, {through_matrices}},
          {{"add_broadcast"}, {u8}, {of_two, through_matrices}},
          {{"concat"}, {u8}, {axis("m", {{seeds, 3}}), through_matrices}},
          {{"flip"}, {u8}, {through_matrices}},
          {{"scan"}, {i32}, {elements}},
          {{"sort"}, {u8}, {elements}},
          {normalisations, {bf16}, {rows}},
          {{"transpose"}, {u8}, {rows}},
          {{"gather"}, {bf16}, {table}},
          {{"gather"}, {u8}, {gathered}},
          {{"batched_matmul"}, {bf16}, {heads}}};
}

}  // namespace

Suite tensor_ops_suite() {
  std::vector<Grid> grids = checked();
  for (const auto& more : {timed(), timed_pieces()})
    grids.insert(grids.end(), more.begin(), more.end());
  return {.order = 1,
          .name = "tensor_ops",
          .description = "elementwise, reduction, row-wise and layout ops on tensors",
          .grids = with_edges(std::move(grids), edge_grids())};
}

}  // namespace assay
