#pragma once

#include "harness/input/tensor_key.h"
#include "kernels/core/host_tensor.h"
#include "kernels/ops/op.h"

namespace assay::input {

/// Fills `tensor` with the test data of `pass`. Element i depends on (key, i) alone: it is the same
/// on every device and at every thread count.
void generate(const OpInstance& op, const Pass& pass, const TensorKey& key, HostTensor& tensor);

}  // namespace assay::input
