#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "emulator/dropin/properties12.h"

// libcudart.so.12 for programs that name it: the calls whose arguments differ from those of CUDA 13
// under the same name, and those that CUDA 13 has no longer. All others are the runtime's.

namespace {

/// The runtime's call of the same name.
template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

/// CUDA 12 names the host by a device number.
cudaMemLocation location_of(int device) {
  if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties_v2(emulator::DeviceProperties12* properties, int device) {
  cudaDeviceProp now;
  if (properties == nullptr) return cudaErrorInvalidValue;
  const cudaError_t error = cudaGetDeviceProperties(&now, device);
  if (error != cudaSuccess) return error;
  *properties = emulator::properties12(now);
  properties->clockRate = attribute(cudaDevAttrClockRate, device);
  properties->deviceOverlap = attribute(cudaDevAttrGpuOverlap, device);
  properties->kernelExecTimeoutEnabled = attribute(cudaDevAttrKernelExecTimeout, device);
  properties->computeMode = attribute(cudaDevAttrComputeMode, device);
  properties->maxTexture1DLinear = attribute(cudaDevAttrMaxTexture1DLinearWidth, device);
  properties->memoryClockRate = attribute(cudaDevAttrMemoryClockRate, device);
  properties->singleToDoublePrecisionPerfRatio =
      attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  properties->cooperativeMultiDeviceLaunch = 0;
  return cudaSuccess;
}

// Under names of their own, as the headers of CUDA 13 declare these otherwise.
cudaError_t prefetch_for_12(const void* memory, std::size_t bytes, int device,
                            cudaStream_t stream) __asm__("cudaMemPrefetchAsync");
cudaError_t prefetch_for_12(const void* memory, std::size_t bytes, int device,
                            cudaStream_t stream) {
  using Call = cudaError_t(const void*, std::size_t, cudaMemLocation, unsigned, cudaStream_t);
  Call* const call = next<Call>("cudaMemPrefetchAsync");
  return call == nullptr ? cudaErrorNotSupported
                         : call(memory, bytes, location_of(device), 0, stream);
}

cudaError_t advise_for_12(const void* memory, std::size_t bytes, cudaMemoryAdvise advice,
                          int device) __asm__("cudaMemAdvise");
cudaError_t advise_for_12(const void* memory, std::size_t bytes, cudaMemoryAdvise advice,
                          int device) {
  using Call = cudaError_t(const void*, std::size_t, cudaMemoryAdvise, cudaMemLocation);
  Call* const call = next<Call>("cudaMemAdvise");
  return call == nullptr ? cudaErrorNotSupported : call(memory, bytes, advice, location_of(device));
}

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

}  // extern "C"
