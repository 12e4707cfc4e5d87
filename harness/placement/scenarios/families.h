#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "harness/placement/module.h"
#include "harness/placement/stage.h"

namespace assay::placement {

struct ScenarioRow {
  std::string_view op;
  void (*run)(Stage& stage);
};

/// Throws ScenarioFailure unless both the tensor and the driver say that it is on `place`.
void expect_on(const Place& place, const Tensor& tensor, const std::string& what);

/// Layers of an op with the parameters and inputs of linear_stack, made on the CPU.
std::unique_ptr<Module> stack_of(const Stage& stage);

// One file each. Section names are those of docs/placement.md.
std::span<const ScenarioRow> device_scenarios();    // available devices
std::span<const ScenarioRow> move_scenarios();      // birth and moves of tensors
std::span<const ScenarioRow> compute_scenarios();   // places of results, and refusals
std::span<const ScenarioRow> seed_scenarios();      // random numbers
std::span<const ScenarioRow> parallel_scenarios();  // several devices at one task

}  // namespace assay::placement
