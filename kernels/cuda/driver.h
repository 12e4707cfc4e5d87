#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/library.h"

// NVIDIA's driver library, where the runtime lacks something.
namespace assay::cuda {

const Library& driver();

/// Records an event behind all work of the current GPU's context so far, whatever its stream.
/// Throws DeviceError(not_here) if the driver cannot: those of CUDA 12.5 and newer can.
void record_all_work(cudaEvent_t event);

}  // namespace assay::cuda
