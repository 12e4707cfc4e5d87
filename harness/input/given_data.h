#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/input/tensor_key.h"
#include "kernels/core/host_tensor.h"
#include "kernels/ops/op.h"

// Inputs that the code of a defined op draws itself: another process answers for it.
namespace assay::input {

/// Draws all inputs of an op from a seed, the same ones each time. Throws std::runtime_error with
/// the reason if it cannot.
using DrawGiven = std::function<std::vector<HostTensor>(const OpInstance&, std::uint64_t seed)>;

/// Answers for all defined ops from now on.
void draw_given_with(DrawGiven draw);

/// Fills one input of a launch, all of whose inputs are drawn together.
void fill_given(const OpInstance& op, const TensorKey& key, HostTensor& tensor);

}  // namespace assay::input
