#pragma once

#include <cuda_runtime_api.h>

#include "emulator/runtime/scheduler.h"

namespace emulator {

/// Whether the calling thread runs a function that the program has put on a stream. Such a function
/// must not call CUDA.
bool is_in_host_function();

/// A function of the host as work of a stream or a graph.
WorkStep host_function_step(cudaHostFn_t function, void* data);

}  // namespace emulator
