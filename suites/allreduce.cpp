#include "suites/suite.h"

namespace assay {

Suite allreduce_suite() {
  using enum DType;
  using enum Level;
  const std::vector<DType> dtypes{f32, f64, bf16, f16, i32, i64};
  const Axis reduce = axis(
      "reduce", {{seeds, "sum"}, {seeds, "prod"}, {seeds, "min"}, {seeds, "max"}, {seeds, "avg"}});
  const Axis place = axis("place", {{seeds, "out"}, {seeds, "in"}});
  const Axis out_of_place = axis("place", {{seeds, "out"}});
  const Axis sum = axis("reduce", {{seeds, "sum"}});
  const Axis large = axis("count", {{full, 67108864}});  // 256 MiB of f32
  // Every operation on few elements; the sum, which everybody uses, also over ranks and sizes.
  return {
      .name = "allreduce",
      .description = "all-reduce over several ranks, each rank's result checked",
      .grids = {
          {{"allreduce"},
           dtypes,
           {reduce, axis("ranks", {{seeds, 2}, {smoke, 3}, {full, 8}}),
            axis("count", {{seeds, 1003}}), place}},
          {{"allreduce"},
           {f32, bf16},
           {sum, axis("ranks", {{seeds, 1}}), axis("count", {{seeds, 1003}}), out_of_place}},
          {{"allreduce"},
           {f32},
           {sum,
            axis("ranks", {{smoke, 2},
                           {smoke, 4},
                           {standard, 8},
                           {full, 3},
                           {full, 5},
                           {full, 6},
                           {full, 7}}),
            axis("count", {{smoke, 1}, {smoke, 65537}, {standard, 1048576}, {full, 16777216}}),
            place}},
          // Of the largest messages not every combination: 8 ranks take 8.6 GB and minutes.
          {{"allreduce"}, {f32}, {sum, axis("ranks", {{full, 2}, {full, 4}}), large, out_of_place}},
          {{"allreduce"},
           {f64, bf16, f16, i32, i64},
           {sum, axis("ranks", {{standard, 2}, {full, 4}}),
            axis("count", {{standard, 1048576}, {full, 16777216}}), out_of_place}}}};
}

}  // namespace assay
