#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/ops/op.h"

namespace assay::cuda {

/// Fills `to`, of the size of an input of `op`, with numbers of the distribution that its timed
/// launches have: that of its last pass, which must be uniform. Throws DeviceError.
void fill_as_timed(const OpInstance& op, std::size_t input, void* to, cudaStream_t stream);

}  // namespace assay::cuda
