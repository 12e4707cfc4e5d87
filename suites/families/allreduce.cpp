#include "suites/suite.h"

namespace assay {

Suite allreduce_suite() {
  using enum DType;
  using enum Level;
  const std::vector<DType> dtypes{f32, f64, bf16, f16, i32, i64};
  const Axis reductions = axis("reduce", {{seeds, "sum"},
                                          {seeds, "prod"},
                                          {seeds, "min"},
                                          {seeds, "max"},
                                          {seeds, "avg"},
                                          {smoke, "premul_sum"}});
  const Axis sum = axis("reduce", {{seeds, "sum"}});
  // Used with one rank: a plain sum would be a copy there, and prove nothing.
  const Axis doubled = axis("reduce", {{seeds, "premul_sum"}});
  const Axis few = axis("count", {{seeds, 1003}});
  const Axis out = axis("place", {{seeds, "out"}});
  const Axis both = axis("place", {{seeds, "out"}, {seeds, "in"}});
  const Axis sizes = axis("count", {{standard, 1024},  // 4 KiB of f32
                                    {standard, 4096},
                                    {standard, 16384},
                                    {standard, 65536},
                                    {standard, 262144},
                                    {standard, 1048576},
                                    {standard, 4194304},
                                    {standard, 16777216}});
  const Axis largest = axis("count", {{full, 67108864}});  // 256 MiB of f32
  // Every operation and dtype has few elements; the sum, which is common, covers ranks and sizes.
  return {.place = 4,
          .name = "allreduce",
          .description = "all-reduce over several ranks, each rank's result checked",
          .grids = {
              {{"allreduce"},
               dtypes,
               {reductions, axis("ranks", {{seeds, 2}, {smoke, 3}, {standard, 8}}), few, both},
               never},
              {{"allreduce"}, {f32, bf16}, {doubled, axis("ranks", {{seeds, 1}}), few, out}},
              {{"allreduce"},
               {f32},
               {sum,
                axis("ranks", {{smoke, 2},
                               {standard, 4},
                               {standard, 8},
                               {full, 3},
                               {full, 5},
                               {full, 6},
                               {full, 7}}),
                axis("count", {{smoke, 1}, {smoke, 65537}, {standard, 1048576}, {full, 16777216}}),
                both}},
              {{"allreduce"}, {f32}, {sum, axis("ranks", {{standard, 2}, {full, 8}}), sizes, out}},
              // Leaves out combinations of the largest messages: 8 ranks take 8.6 GB and minutes.
              {{"allreduce"}, {f32}, {sum, axis("ranks", {{full, 2}, {full, 4}}), largest, out}},
              {{"allreduce"},
               {f64, bf16, f16, i32, i64},
               {sum, axis("ranks", {{standard, 2}, {full, 4}}),
                axis("count", {{standard, 1048576}, {full, 16777216}}), out}}}};
}

}  // namespace assay
