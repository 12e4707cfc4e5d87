#include "suites/suite.h"

namespace assay {

Suite tensor_ops_suite() {
  using enum DType;
  using enum Level;
  // None; three, as in [1, 2, 3] squared; an odd number of some vectors; a prime above a page; a
  // prime beyond the first caches; and 16 Mi, beyond the last.
  const Axis n = axis("n", {{seeds, 0},
                            {seeds, 3},
                            {seeds, 1003},
                            {smoke, 65537},
                            {smoke, 1048573},
                            {standard, 16777216},
                            {full, 67108859}});
  const Axis rows_of_softmax{{"rows", "cols"},
                             {{seeds, {2, 3}},
                              {seeds, {16, 1003}},
                              {smoke, {1, 65537}},
                              {smoke, {1021, 128}},
                              {standard, {4096, 1024}},
                              {full, {16384, 4096}}}};
  return {.name = "tensor_ops",
          .description = "elementwise, reduction and row-wise ops on tensors",
          .grids = {{{"add", "square", "exp", "sum"}, {f32, f64, i64}, {n}},
                    {{"softmax"}, {f32, f64}, {rows_of_softmax}}}};
}

}  // namespace assay
