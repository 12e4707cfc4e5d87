#include <algorithm>
#include <cstdint>

#include "emulator/libraries/cuda/context.h"
#include "emulator/runtime/driver_modules.h"

using namespace emulator;
using namespace emulator::driver;

namespace {

/// Memory that a copy's direction names is checked by the runtime.
CUresult copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return in_context([&] { return cudaMemcpy(to, from, bytes, kind); });
}

CUresult copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  return in_context([&] { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

/// A memset of values of 16 or 32 bits. The runtime sets bytes: where they differ, a first value is
/// copied from the host, and what is set is copied behind itself, twice as much each time.
CUresult set(CUdeviceptr to, std::uint32_t value, std::size_t value_bytes, std::size_t count,
             CUstream stream, bool is_async) {
  if (to % value_bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t bytes = count * value_bytes;
  const std::uint32_t low = value & 0xff;
  const bool is_uniform = value_bytes == 1 ||
                          (value_bytes == 2 && (value & 0xffff) == low * 0x101) ||
                          value == low * 0x1010101;
  return in_context([&] {
    if (is_uniform || bytes == 0)
      return is_async ? cudaMemsetAsync(pointer(to), static_cast<int>(low), bytes, stream)
                      : cudaMemset(pointer(to), static_cast<int>(low), bytes);
    cudaError_t error =
        cudaMemcpyAsync(pointer(to), &value, value_bytes, cudaMemcpyHostToDevice, stream);
    for (std::size_t done = value_bytes; done < bytes && error == cudaSuccess; done *= 2)
      error = cudaMemcpyAsync(pointer(to + done), pointer(to), std::min(done, bytes - done),
                              cudaMemcpyDeviceToDevice, stream);
    return error;
  });
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return in_context([&] { return cudaMemGetInfo(free_bytes, total_bytes); });
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return in_context([&] {
    if (address == nullptr || bytes == 0) return cudaErrorInvalidValue;
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return error;
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned element_bytes) {
  return in_context([&] {
    const bool is_known = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (address == nullptr || !is_known || width == 0 || height == 0) return cudaErrorInvalidValue;
    void* memory = nullptr;
    const cudaError_t error = cudaMallocPitch(&memory, pitch, width, height);
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return error;
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  return in_context([&] { return cudaFree(pointer(address)); });
}

CUresult cuMemAllocHost(void** memory, std::size_t bytes) {
  return in_context([&] { return cudaMallocHost(memory, bytes); });
}

CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return in_context([&] { return cudaHostAlloc(memory, bytes, flags); });
}

CUresult cuMemFreeHost(void* memory) {
  return in_context([&] { return cudaFreeHost(memory); });
}

CUresult cuMemHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return in_context([&] { return cudaHostRegister(memory, bytes, flags); });
}

CUresult cuMemHostUnregister(void* memory) {
  return in_context([&] { return cudaHostUnregister(memory); });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned flags) {
  return in_context([&] {
    void* same = nullptr;
    const cudaError_t error = cudaHostGetDevicePointer(&same, memory, flags);
    if (address != nullptr) *address = reinterpret_cast<CUdeviceptr>(same);
    return address == nullptr ? cudaErrorInvalidValue : error;
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  return in_context([&] {
    int device = 0;
    std::uintptr_t first = 0;
    std::size_t size = 0;
    if (owner_of(address, &device, &first, &size) != cudaSuccess) return cudaErrorSymbolNotFound;
    if (begin != nullptr) *begin = first;
    if (bytes != nullptr) *bytes = size;
    return cudaSuccess;
  });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(pointer(to), from, bytes, cudaMemcpyHostToDevice);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, pointer(from), bytes, cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return set(to, value, 1, count, nullptr, false);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return set(to, value, 2, count, nullptr, false);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  return set(to, value, 4, count, nullptr, false);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return set(to, value, 1, count, stream, true);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return set(to, value, 2, count, stream, true);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return set(to, value, 4, count, stream, true);
}

}  // extern "C"
