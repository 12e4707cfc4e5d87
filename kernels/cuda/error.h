#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/core/status.h"

namespace assay::cuda {

/// What an error of the runtime means for the trial. An error that has spoilt the context
/// ("sticky": every later call gives it again) is `internal`: a fresh process is rid of it.
Failure failure_of(cudaError_t error);

/// Whether the context is lost with it.
bool is_sticky(cudaError_t error);

/// What a user can do about it; perhaps empty.
std::string remedy(cudaError_t error);

/// Throws DeviceError that names `call` unless `error` is cudaSuccess.
void check(cudaError_t error, const char* call);

}  // namespace assay::cuda
