#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/placement/tensor.h"
#include "kernels/device/device.h"
#include "kernels/ops/op.h"

// Ops that are steps on the placement layer (scenario_ops.h): lessons of tensor framework tutorials
// as code that can fail. Each gets tensors on the devices of its lane. Its output is judged like
// any kernel's; expect() checks what no output can show.
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

/// The kernel of an op that is a scenario, on tensors at these addresses. Throws std::logic_error
/// for an op of the table that has none.
std::unique_ptr<Kernel> prepare_scenario(const OpInstance& op, std::span<Place* const> lane,
                                         std::span<const Binding> ranks);

}  // namespace assay::placement
