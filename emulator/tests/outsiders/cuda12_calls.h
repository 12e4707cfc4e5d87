// Calls as they were before CUDA 13, for programs that were written for it: nvcc -include
// cuda12_calls.h
#pragma once

#if defined(__CUDACC__) && CUDART_VERSION >= 13000
static inline cudaMemLocation cuda12_location(int device) {
  if (device < 0) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

static inline cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice,
                                        int device) {
  return cudaMemAdvise(memory, bytes, advice, cuda12_location(device));
}

static inline cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device,
                                               cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(memory, bytes, cuda12_location(device), 0, stream);
}
#endif
