#include "suites/suite.h"

namespace assay {

Suite allreduce_suite() {
  using enum DType;
  using enum Level;
  return {.name = "allreduce",
          .description = "all-reduce over several ranks, each rank's result checked",
          .grids = {{{"allreduce"},
                     {f32, f64, i64},
                     {axis("reduce", {{seeds, "sum"}}),
                      axis("ranks", {{seeds, 1}, {seeds, 2}, {seeds, 4}}),
                      axis("count", {{seeds, 1},
                                     {seeds, 1003},
                                     {smoke, 262147},
                                     {standard, 4194304},
                                     {full, 16777216}})}}}};
}

}  // namespace assay
