#include "suites/suite.h"

namespace assay {

Suite linear_suite() {
  using enum DType;
  using enum Level;
  const Axis shapes{{"batch", "in", "out"},
                    {{seeds, {2, 3, 1}},     // Linear(3, 1) on a 2 x 3 input
                     {seeds, {2, 3, 3}},     // Linear(3, 3)
                     {seeds, {16, 64, 33}},  // batch 16, and a width that fills no tile
                     {smoke, {64, 1024, 1024}},
                     {smoke, {1, 4096, 1000}},
                     {standard, {256, 4096, 1024}},
                     {full, {1024, 4096, 4096}}}};
  return {.name = "linear",
          .description = "y = act(x W^T + b): the forward pass of a fully connected layer",
          .grids = {{{"linear"},
                     {f32, bf16},
                     {shapes, axis("bias", {{seeds, 0}, {seeds, 1}}),
                      axis("act", {{seeds, "none"}, {seeds, "relu"}})}}}};
}

}  // namespace assay
