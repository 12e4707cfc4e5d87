#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

// A device has one context here, whatever calls made it: its handle is the device's number and 1,
// as in the runtime's cuStreamGetCtx.
namespace emulator::driver {

/// The driver's number of a runtime's error: mostly the same.
CUresult result_of(cudaError_t error);

/// CUDA_ERROR_NOT_INITIALIZED before cuInit, unless calls of the runtime have initialised it.
CUresult check_initialized();
/// CUDA_ERROR_INVALID_CONTEXT while no context is current. Makes its device the runtime's.
CUresult check_context();

/// Does `call` if a context is current.
template <class Call>
CUresult in_context(const Call& call) {
  if (const CUresult e = check_context(); e != CUDA_SUCCESS) return e;
  return result_of(call());
}

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace emulator::driver
