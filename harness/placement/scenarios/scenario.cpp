#include "harness/placement/scenarios/scenario.h"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/placement/apply.h"
#include "harness/placement/error.h"
#include "harness/placement/scenarios/families.h"

namespace assay::placement {
namespace {

constexpr std::span<const ScenarioRow> (*families[])() = {
    device_scenarios, move_scenarios, compute_scenarios, seed_scenarios, parallel_scenarios,
};

const ScenarioRow& find(std::string_view op) {
  for (const auto family : families) {
    for (const ScenarioRow& row : family()) {
      if (row.op == op) return row;
    }
  }
  throw std::logic_error("no scenario for " + std::string(op));
}

class ScenarioKernel final : public Kernel {
 public:
  ScenarioKernel(const ScenarioRow& row, Stage stage) : row_(row), stage_(std::move(stage)) {}
  void launch() override {
    try {
      stage_.devices().take_ran();
      row_.run(stage_);
      ran_ = stage_.devices().take_ran();
    } catch (const PlacementError& error) {
      // Scenarios catch the refusals that they expect.
      throw ScenarioFailure{error.what()};
    }
  }
  std::string implementation() const override {
    std::string text = "placement layer";
    for (const std::string& kernel : ran_.implementations) text += "; " + kernel;
    return text;
  }
  std::string wrong_algorithms() const override { return ran_.wrong_algorithms; }
  std::string transport() const override { return ran_.transport; }
  MathMode math_mode() const override { return ran_.math_mode; }
  bool may_wait() const override { return true; }

 private:
  const ScenarioRow& row_;
  Stage stage_;
  Devices::Ran ran_;  // in the last launch
};

/// Wraps the memory as a tensor that does not own it. Only the scenario writes to it.
Tensor borrowed(Place& place, const void* memory, const TensorSpec& spec) {
  return Tensor::over(place, const_cast<void*>(memory), spec.dtype, spec.shape);
}

}  // namespace

void expect_on(const Place& place, const Tensor& tensor, const std::string& what) {
  if (&tensor.place() == &place && holds(place, tensor)) return;
  throw ScenarioFailure{fmt::format(
      "{} is on {}, its driver says '{}'; it should be on {} ({})", what, tensor.place().text(),
      place.device().owner_uuid(tensor.data()), place.text(), place.device().info().uuid)};
}

std::unique_ptr<Kernel> prepare_scenario(const OpInstance& op, std::span<Place* const> lane,
                                         std::span<const Binding> ranks) {
  Stage stage{.op = op};
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Place& place = *lane[lane.size() > rank ? rank : 0];
    RankOfScenario tensors{
        .output = borrowed(place, ranks[rank].outputs.front(), op.signature.outputs.front())};
    for (std::size_t i = 0; i < ranks[rank].inputs.size(); ++i) {
      tensors.inputs.push_back(borrowed(place, ranks[rank].inputs[i], op.signature.inputs[i]));
    }
    stage.ranks.push_back(std::move(tensors));
  }
  // A device that ranks or parts of a batch share stands once for each of them.
  const auto wanted =
      static_cast<std::size_t>(op.op->collective ? op.signature.ranks : op.signature.devices);
  for (std::size_t i = 0; i < wanted; ++i) {
    stage.places.push_back(lane[lane.size() > i ? i : 0]);
  }
  return std::make_unique<ScenarioKernel>(find(op.op->name), std::move(stage));
}

}  // namespace assay::placement
