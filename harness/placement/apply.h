#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "harness/placement/tensor.h"
#include "kernels/ops/op.h"

namespace assay::placement {

/// Runs an op on the device of its operands and returns the result there. First copies operands
/// that are not dense. Throws PlacementError before any computing if an operand is on another
/// device than the first; the text names the op and both devices.
Tensor apply(const OpInstance& op, std::span<const Tensor> operands);
inline Tensor apply(const OpInstance& op, std::initializer_list<Tensor> operands) {
  return placement::apply(op, std::span<const Tensor>(operands.begin(), operands.size()));
}
/// Runs the op of that name in the dtype of the first operand.
Tensor apply(std::string_view op, const Params& params, std::initializer_list<Tensor> operands);
/// Runs an op without operands on `place`.
Tensor apply_on(Place& place, const OpInstance& op);

/// True if the driver says that the device holds the tensor. If the driver cannot tell: true if the
/// tensor was made for it.
bool holds(const Place& place, const Tensor& tensor);

/// Runs a kernel of `place` once, to its end, on addresses that the device can reach.
void launch(const OpInstance& op, const Place& place, std::vector<const void*> inputs,
            void* output);

}  // namespace assay::placement
