#pragma once

#include <memory>
#include <span>

#include "harness/placement/stage.h"
#include "kernels/device/device.h"
#include "kernels/ops/op.h"

// The steps of the ops in kernels/ops/placement.cpp: lessons of tensor framework tutorials as code
// that can fail. Each gets tensors on the devices of its lane. Its output is judged like any
// kernel's; expect() checks what no output can show.
namespace assay::placement {

/// The kernel of an op that is a scenario, on tensors at these addresses. Throws std::logic_error
/// for an op of the table that has none.
std::unique_ptr<Kernel> prepare_scenario(const OpInstance& op, std::span<Place* const> lane,
                                         std::span<const Binding> ranks);

}  // namespace assay::placement
