#include "suites/suite.h"

namespace assay {
namespace {

using enum DType;
using enum Level;

const Axis elements = axis("n", {{seeds, 1003}});
const Axis numbers = axis("n", {{seeds, 1003}, {smoke, 65537}});
const Axis seeds_of_numbers = axis("seed", {{seeds, 0}, {seeds, 42}});
const Axis two_devices = axis("devices", {{seeds, 2}});
const Axis devices = axis(
    "devices", {{seeds, 2}, {smoke, 3}, {standard, 4}, {full, 5}, {full, 6}, {full, 7}, {full, 8}});
const std::vector<std::pair<Level, ParamValue>> one_to_eight{
    {seeds, 1}, {seeds, 2}, {smoke, 3}, {standard, 4}, {full, 5}, {full, 6}, {full, 7}, {full, 8}};
const Axis matrix{{"rows", "cols"}, {{seeds, {7, 5}}, {seeds, {1, 1}}, {smoke, {129, 257}}}};
const Axis layouts = axis("layout", {{seeds, "dense"}, {seeds, "transposed"}, {seeds, "columns"}});
const Axis exits = axis("exit", {{seeds, "normal"}, {seeds, "error"}});
const Axis bias = axis("bias", {{seeds, 0}, {seeds, 1}});
const Axis act = axis("act", {{seeds, "none"}, {smoke, "relu"}});
const Axis relu = axis("act", {{seeds, "relu"}});
const Axis layers{{"batch", "in", "out"},
                  {{seeds, {2, 3, 1}}, {seeds, {2, 3, 3}}, {smoke, {64, 120, 84}}}};
const Axis stacks{{"batch", "in", "width", "layers"},
                  {{seeds, {16, 10, 16, 3}}, {in_turns, {64, 256, 256, 4}}}};
/// Batches that divide evenly among the devices, that do not, and that are too small for all.
const Axis batches{{"batch", "in", "width", "layers"},
                   {{seeds, {16, 10, 16, 3}}, {seeds, {17, 10, 16, 2}}, {seeds, {1, 10, 16, 1}}}};
const Axis samples{{"samples", "in", "out"},
                   {{seeds, {16, 10, 5}}, {seeds, {13, 3, 1}}, {smoke, {256, 120, 84}}}};

}  // namespace

Suite placement_suite() {
  // Checks only: the suite `transfers` measures the cost of a move.
  return {
      .order = 6,
      .name = "placement",
      .description = "where tensors, modules and results are, and several devices at one task",
      .grids = {
          {{"device_query", "absent_device_refused", "visible_mask", "born_on_cpu", "move_stays",
            "mixed_devices_refused"},
           {f32},
           {elements},
           never},
          {{"most_free"}, {f32}, {devices, elements}, never},
          {{"move_between"}, {f32, i8}, {devices, elements}, never},
          {{"mixed_peers_refused"}, {f32}, {two_devices, elements}, never},
          {{"device_guard"}, {f32}, {two_devices, elements, exits}, never},
          {{"move_copies"}, {f64, f32, bf16, f16, i64, i32, i8, u8, e4m3, e5m2}, {elements}, never},
          {{"round_trip"},
           {f64, f32, bf16, f16, i64, i32, i8, u8, e4m3, e5m2},
           {matrix, layouts},
           never},
          {{"results_stay"}, {f32, i64}, {elements}, never},
          {{"square_123"}, {i64}, {axis("numbers", {{seeds, 3}})}, never},
          {{"linear_module"}, {f32, f64, bf16, f16}, {layers, bias, act}, never},
          {{"sequential"}, {f32, f64, bf16, f16}, {stacks, bias, relu}, never},
          {{"manual_seed"}, {f32, f64}, {numbers, seeds_of_numbers}, never},
          {{"manual_seed_all"}, {f32}, {devices, numbers, seeds_of_numbers}, never},
          {{"data_parallel"},
           {f32, bf16},
           {axis("devices", one_to_eight), batches, bias, relu},
           never},
          {{"distributed_gradient"}, {f32, f64}, {axis("ranks", one_to_eight), samples}, never}}};
}

}  // namespace assay
