#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/library.h"

// NVIDIA's driver library, where the runtime lacks something.
namespace assay::cuda {

const Library& driver();

/// Whether NVSwitches multicast and reduce for the GPU (CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED),
/// as NCCL asks before it uses NVLS. False if the driver does not know.
bool has_multicast(int ordinal);

/// Records an event, of the stream's context, behind all work of that context so far, whatever its
/// stream. Throws DeviceError(not_here) if the driver cannot: those of CUDA 12.5 and newer can.
void record_all_work(cudaStream_t stream, cudaEvent_t event);

}  // namespace assay::cuda
