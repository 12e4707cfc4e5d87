#include "suites/piece_grids.h"

namespace assay {
namespace {

using enum DType;
using enum Level;

const std::vector<Format> all{f64, f32, bf16, f16, i64, i32, i8, u8};
const std::vector<Format> others{f64, bf16, f16, i64, i32, u8};

/// Pieces along the middle of three extents: rows at any address, columns, whole vectors or not.
const Axis small_pieces{{"outer", "n", "inner"},
                        {{seeds, {5, 61, 1}}, {seeds, {1, 33, 61}}, {seeds, {3, 11, 7}}}};
Axis pieces(Level level) {
  return {{"outer", "n", "inner"},
          {{level, {2, 96, 96}},
           {level, {7, 6, 40}},
           {level, {3, 1028, 2}},
           {level, {2, 3, 1028}},
           {level, {66, 1, 258}},
           {level, {61, 1, 1}},
           {level, {1, 3, 4099}}}};
}
/// Rows of whole vectors, of each dtype.
const Axis whole_pieces{{"outer", "n", "inner"}, {{smoke, {3, 64, 1}}}};
const Axis empty_pieces{{"outer", "n", "inner"}, {{seeds, {3, 0, 2}}}};
/// Lengths of a second operand: as the first one of equal extents, empty, or short.
const Axis some_more = axis("m", {{seeds, 5}, {smoke, 24}});
const Axis other_lengths = axis("m", {{smoke, 24}, {smoke, 12}, {smoke, 6}, {smoke, 0}});
const Axis few_more = axis("m", {{seeds, 3}});
const Axis one_around{{"before", "after"}, {{smoke, {1, 1}}}};
const Axis some_padding{{"before", "after"}, {{seeds, {2, 3}}}};
const Axis one_sided{{"before", "after"},
                     {{smoke, {0, 4}}, {smoke, {9, 0}}, {smoke, {0, 0}}, {smoke, {40, 66}}}};
const Axis some_times = axis("times", {{seeds, 3}});
const Axis other_times = axis("times", {{smoke, 1}, {smoke, 2}, {smoke, 34}});
const Axis times_beyond_16_bits{{"outer", "n", "inner", "times"}, {{smoke, {2, 3, 1, 70001}}}};
const Axis small_slices{{"outer", "n", "inner", "start", "count", "step"},
                        {{seeds, {5, 61, 1, 3, 20, 2}},
                         {seeds, {1, 33, 61, 4, 29, 1}},
                         {seeds, {3, 11, 7, 1, 3, 4}},
                         {seeds, {3, 5, 2, 5, 0, 1}}}};
Axis slices(Level level) {
  return {{"outer", "n", "inner", "start", "count", "step"},
          {{level, {2, 96, 96, 0, 96, 1}},
           {level, {7, 6, 40, 5, 1, 1}},
           {level, {66, 3, 258, 0, 2, 2}},
           {level, {3, 1028, 2, 4, 256, 4}},
           {level, {3, 4099, 1, 0, 4096, 1}},
           {level, {3, 64, 1, 0, 32, 2}},
           {level, {3, 96, 1, 8, 64, 1}},
           {level, {1, 24, 514, 1, 10, 2}}}};
}
const Axis equal_slices{{"outer", "n", "inner", "start", "count", "step"},
                        {{smoke, {24, 24, 12, 0, 12, 2}},
                         {smoke, {24, 12, 24, 2, 9, 1}},
                         {smoke, {12, 24, 24, 1, 8, 3}}}};
const Axis slices_beyond_16_bits{{"outer", "n", "inner", "start", "count", "step"},
                                 {{smoke, {1, 65539, 3, 1, 32769, 2}},
                                  {smoke, {70001, 2, 1, 1, 1, 1}},
                                  {smoke, {1, 5, 70001, 1, 2, 2}}}};
/// Rows that are joined, and lie side by side.
const Axis large_pieces =
    growing("outer", {{"outer", "n", "inner"}, {{standard, {4096, 2048, 1}}}});
const Axis large_pieces_in_full = growing(
    "outer", {{"outer", "n", "inner"}, {{full, {4096, 4096, 1}}, {full, {16, 1024, 1024}}}});
const Axis large_slices = growing(
    "outer", {{"outer", "n", "inner", "start", "count", "step"},
              {{full, {4096, 8192, 1, 2048, 4096, 1}}, {full, {4096, 8192, 1, 0, 4096, 2}}}});
}  // namespace

std::vector<Grid> checked_pieces(const Axis& equal_extents, const Axis& beyond_16_bits) {
  std::vector<Grid> grids;
  const auto add = [&](const std::vector<Format>& formats, const Axis& extents, const Axis& m,
                       const Axis& padding) {
    grids.push_back({{"concat"}, formats, {extents, m}});
    grids.push_back({{"pad"}, formats, {extents, padding}});
    grids.push_back({{"flip"}, formats, {extents}});
    grids.push_back({{"repeat"}, formats, {extents, some_times}});
  };
  add(all, small_pieces, some_more, some_padding);
  add({f32}, pieces(smoke), some_more, some_padding);
  add(others, pieces(in_turns), some_more, some_padding);
  add({f32}, equal_extents, other_lengths, some_padding);
  add({f32, bf16}, empty_pieces, some_more, some_padding);
  add({f32}, beyond_16_bits, few_more, one_around);
  add(all, whole_pieces, some_more, some_padding);
  grids.push_back({{"concat"}, {f32, f16}, {whole_pieces, axis("m", {{smoke, 64}})}});
  grids.push_back({{"repeat"}, {f32, u8}, {times_beyond_16_bits}});
  grids.push_back({{"concat"}, {u8}, {equal_extents, other_lengths}});
  grids.push_back({{"pad"}, {f32, u8}, {small_pieces, one_sided}});
  grids.push_back({{"repeat"}, {f32, u8}, {small_pieces, other_times}});
  grids.push_back({{"slice"}, all, {small_slices}});
  grids.push_back({{"slice"}, {f32}, {slices(smoke)}});
  grids.push_back({{"slice"}, others, {slices(in_turns)}});
  grids.push_back({{"slice"}, {f32}, {equal_slices}});
  grids.push_back({{"slice"}, {f32}, {slices_beyond_16_bits}});
  return grids;
}

std::vector<Grid> timed_pieces() {
  return {{{"concat"}, {f32}, {large_pieces, axis("m", {{seeds, 2048}})}},
          {{"repeat"}, {f32}, {large_pieces, axis("times", {{seeds, 2}})}},
          {{"concat"}, {bf16, u8}, {large_pieces_in_full, axis("m", {{seeds, 2048}})}},
          {{"repeat"}, {bf16, u8}, {large_pieces_in_full, axis("times", {{seeds, 2}})}},
          {{"pad"}, {f32, bf16}, {large_pieces_in_full, some_padding}},
          {{"flip"}, {f32, bf16, u8}, {large_pieces_in_full}},
          {{"slice"}, {f32, bf16}, {large_slices}}};
}

}  // namespace assay
