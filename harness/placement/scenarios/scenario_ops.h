#pragma once

#include <span>
#include <string_view>

#include "kernels/ops/op.h"

// Ops that are steps on the placement layer (scenario.h). No backend has a kernel of them.
namespace assay::placement {

std::span<const Op> scenario_ops();
/// Null if no scenario has that name.
const Op* find_scenario(std::string_view name);

}  // namespace assay::placement
