#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/placement/tensor.h"
#include "kernels/ops/op.h"

// Ops, places and tensors of a scenario of the placement layer
// (harness/placement/scenarios/scenario.h).
namespace assay::placement {

/// A broken promise of the layer: a wrong result.
struct ScenarioFailure {
  std::string reason;
};

/// Throws ScenarioFailure.
inline void expect(bool kept, const std::string& failure) {
  if (!kept) throw ScenarioFailure{failure};
}

/// The tensors of one rank, borrowed from whoever judges them.
struct RankOfScenario {
  std::vector<Tensor> inputs;
  Tensor output;
};

/// Op, places and tensors that a scenario runs on.
struct Stage {
  const OpInstance& op;
  /// Places of the lane; for a collective op one for each rank, possibly the same.
  std::vector<Place*> places;
  std::vector<RankOfScenario> ranks;

  Place& place() const { return *places.front(); }
  Devices& devices() const { return place().devices(); }
  const Tensor& input(std::size_t index = 0) const { return ranks.front().inputs.at(index); }
  Tensor& output() { return ranks.front().output; }
};

}  // namespace assay::placement
