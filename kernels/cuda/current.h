#pragma once

#include <cuda_runtime_api.h>

namespace assay::cuda {

/// Makes a GPU the current one of this thread. Call it before any call about that GPU. Does not
/// restore the previous device: selecting GPU 0 would create a context there, even in workers that
/// do not use it.
void make_current(int ordinal);

/// Clears an error without consequence, such as a release of memory after an error. The next check
/// must not see it.
void ignore(cudaError_t error);

}  // namespace assay::cuda
