#include <utility>

#include "suites/suite.h"

namespace assay {
namespace {

using enum DType;
using enum Level;

const std::vector<Format> dtypes{f32, f64, bf16, f16, i32, i64};
const Axis reductions = axis("reduce", {{seeds, "sum"},
                                        {seeds, "prod"},
                                        {seeds, "min"},
                                        {seeds, "max"},
                                        {seeds, "avg"},
                                        {smoke, "premul_sum"}});
const Axis sum = axis("reduce", {{seeds, "sum"}});
/// Used with one rank: a plain sum would be a copy there, and prove nothing.
const Axis doubled = axis("reduce", {{seeds, "premul_sum"}});
const Axis few = axis("count", {{seeds, 1003}});
const Axis few_ranks = axis("ranks", {{seeds, 2}, {in_turns, 3}, {standard, 8}});
const Axis two_or_three = axis("ranks", {{seeds, 2}, {in_turns, 3}});
const Axis last = axis("root", {{seeds, 1}});
const Axis root = axis("root", {{seeds, 1}, {smoke, 0}});
/// Each pair of the ranks that there are.
Axis every_rank(std::string_view name) {
  std::vector<std::pair<Level, ParamValue>> points;
  for (std::int64_t rank = 0; rank < 8; ++rank) points.emplace_back(seeds, rank);
  return axis(name, points);
}
const Axis from = every_rank("from");
const Axis to = every_rank("to");
const Axis out = axis("place", {{seeds, "out"}});
const Axis both = axis("place", {{seeds, "out"}, {seeds, "in"}});

/// Every operation and dtype on few elements.
std::vector<Grid> checked() {
  std::vector<Grid> grids{{{"allreduce"}, dtypes, {reductions, few_ranks, few, both}},
                          {{"reduce"}, dtypes, {reductions, two_or_three, few, last, out}},
                          {{"reduce"}, {f32, bf16}, {sum, two_or_three, few, root, both}},
                          {{"reduce_scatter"}, dtypes, {reductions, two_or_three, few}},
                          {{"all_gather"}, dtypes, {few_ranks, few, both}},
                          {{"broadcast"}, dtypes, {two_or_three, few, root, both}},
                          {{"all_to_all", "send_recv"}, dtypes, {few_ranks, few}},
                          {{"send_recv_pair"}, dtypes, {two_or_three, few, from, to}}};
  for (Grid& grid : grids) grid.timed_from = never;
  return grids;
}

/// One or two sizes of each collective; --axis takes others. The sum, which is common, covers ranks
/// and sizes.
std::vector<Grid> timed() {
  const Axis sizes = axis("count", {{standard, 1024},  // 4 KiB of f32
                                    {standard, 4096},
                                    {standard, 16384},
                                    {standard, 65536},
                                    {standard, 262144},
                                    {standard, 1048576},
                                    {standard, 4194304},
                                    {standard, 16777216}});
  const Axis largest = axis("count", {{full, 67108864}});  // 256 MiB of f32
  const Axis timed_ranks = axis("ranks", {{standard, 2}, {full, 4}, {full, 8}});
  const Axis timed_sizes = axis("count", {{standard, 1048576}, {full, 4194304}});
  return {
      {{"reduce", "reduce_scatter"}, {f32}, {sum, timed_ranks, timed_sizes}},
      {{"all_gather", "broadcast", "all_to_all", "send_recv"}, {f32}, {timed_ranks, timed_sizes}},
      {{"send_recv_pair"}, {f32}, {timed_ranks, timed_sizes, from, to}},
      {{"allreduce"}, {f32, bf16}, {doubled, axis("ranks", {{seeds, 1}}), few, out}},
      {{"allreduce"},
       {f32},
       {sum,
        axis(
            "ranks",
            {{smoke, 2}, {standard, 4}, {standard, 8}, {full, 3}, {full, 5}, {full, 6}, {full, 7}}),
        axis("count", {{smoke, 1}, {smoke, 65537}, {standard, 1048576}, {full, 16777216}}), both}},
      {{"allreduce"}, {f32}, {sum, axis("ranks", {{standard, 2}, {full, 8}}), sizes, out}},
      // Leaves out combinations of the largest messages: 8 ranks take 8.6 GB and minutes.
      {{"allreduce"}, {f32}, {sum, axis("ranks", {{full, 2}, {full, 4}}), largest, out}},
      {{"allreduce"},
       {f64, bf16, f16, i32, i64},
       {sum, axis("ranks", {{standard, 2}, {full, 4}}),
        axis("count", {{standard, 1048576}, {full, 16777216}}), out}}};
}

/// Bytes beyond 2^31 in all: a chunk of all_gather and its relatives has half of them.
std::vector<Grid> edge_grids() {
  const Axis two = axis("ranks", {{seeds, 2}});
  const Axis many = axis("count", {{seeds, over_2_31 / 2 + 1}});
  const Axis halves = axis("count", {{seeds, over_2_31 / 4 + 1}});
  return {{{"allreduce", "reduce"}, {bf16}, {sum, two, many}},
          {{"broadcast", "send_recv"}, {bf16}, {two, many}},
          {{"reduce_scatter"}, {bf16}, {sum, two, halves}},
          {{"all_gather", "all_to_all"}, {bf16}, {two, halves}}};
}

}  // namespace

Suite collectives_suite() {
  std::vector<Grid> grids = checked();
  for (Grid& grid : timed()) grids.push_back(std::move(grid));
  return {.order = 5,
          .name = "collectives",
          .description = "all-reduce and its relatives over several ranks, each result checked",
          .grids = with_edges(std::move(grids), edge_grids())};
}

}  // namespace assay
