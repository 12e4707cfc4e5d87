#include <fmt/format.h>

#include <algorithm>

#include "harness/placement/data_parallel.h"
#include "harness/placement/distributed.h"
#include "harness/placement/scenarios/families.h"

namespace assay::placement {
namespace {

/// Scatter the batch, replicate, forward, gather: as on one device.
void data_parallel_forward(Stage& stage) {
  const auto stack = stack_of(stage);
  stack->to(stage.place());
  const std::vector<Tensor> parts = scatter(stage.input(), stage.places);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    rows += parts[i].shape().at(0);
    expect(&parts[i].place() == stage.places[i],
           fmt::format("part {} of the batch is on {}, not on {}", i, parts[i].place().text(),
                       stage.places[i]->text()));
  }
  expect(rows == stage.input().shape().at(0),
         fmt::format("{} of {} rows were scattered", rows, stage.input().shape().at(0)));
  const Tensor y = data_parallel(*stack, stage.input(), stage.places);
  expect(&y.place() == &stage.place(), "the outputs were gathered on " + y.place().text());
  stage.output().copy_from(y);
}

/// Each rank has its own device and shard. Gradients are averaged, and all ranks end with the same
/// bits. The inputs of rank 0 replace those of all other ranks.
void distributed_gradient(Stage& stage) {
  const int ranks = stage.op.signature.ranks;
  SingleProcess bootstrap;
  const Group group(stage.places, bootstrap);
  const std::vector<Tensor> x = group.broadcast(stage.input(0));
  const std::vector<Tensor> g = group.broadcast(stage.input(1));
  const std::int64_t samples = stage.input(0).shape().at(0);
  std::vector<int> seen(static_cast<std::size_t>(samples), 0);
  std::vector<Tensor> gradients;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<std::int64_t> own = shard(samples, rank, ranks);
    for (const std::int64_t sample : own) ++seen.at(static_cast<std::size_t>(sample));
    const auto r = static_cast<std::size_t>(rank);
    gradients.push_back(weight_gradient(rows_of(x[r], own), rows_of(g[r], own)));
  }
  for (std::size_t sample = 0; sample < seen.size(); ++sample) {
    expect(seen[sample] == 1,
           fmt::format("sample {} is in {} shards, not in one", sample, seen[sample]));
  }
  const std::vector<Tensor> averages = group.average(gradients);
  for (std::size_t rank = 0; rank < averages.size(); ++rank) {
    stage.ranks[rank].output.copy_from(averages[rank]);
  }
}

}  // namespace

std::span<const ScenarioRow> parallel_scenarios() {
  static constexpr ScenarioRow rows[] = {
      {"data_parallel", data_parallel_forward},
      {"distributed_gradient", distributed_gradient},
  };
  return rows;
}

}  // namespace assay::placement
