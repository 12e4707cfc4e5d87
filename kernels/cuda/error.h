#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/core/status.h"

namespace assay::cuda {

/// Maps a runtime error to the failure of a trial. A sticky error, which every later call on this
/// context returns again, is `internal`: a fresh process clears it.
Failure failure_of(cudaError_t error);

/// Returns true if the error destroys the context.
bool is_sticky(cudaError_t error);

/// Advice to the user; may be empty.
std::string remedy(cudaError_t error);

/// Throws DeviceError that names `call` unless `error` is cudaSuccess.
void check(cudaError_t error, const char* call);

}  // namespace assay::cuda
