#pragma once

#include <cuda_runtime_api.h>

namespace assay::cuda {

/// Makes a GPU the current one of this thread: to be called before whatever is about it. Nobody
/// makes another one current again: to make GPU 0 current takes memory on it, also for workers that
/// have nothing to do with it.
void make_current(int ordinal);

/// Of calls that may fail without consequence, as when memory is released after an error: the next
/// check must not find their error.
void ignore(cudaError_t error);

}  // namespace assay::cuda
