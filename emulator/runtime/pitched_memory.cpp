#include <cstddef>
#include <cstdint>

#include "emulator/runtime/process.h"

// Memory of three dimensions, whose rows lie a pitch apart and whose slices have `ysize` rows.
namespace emulator {
namespace {

std::byte* row_of(const cudaPitchedPtr& memory, std::size_t y, std::size_t z) {
  return static_cast<std::byte*>(memory.ptr) + (z * memory.ysize + y) * memory.pitch;
}

/// Calls `set(row)` for each row, which it refuses before if one would reach into the next.
template <class Set>
cudaError_t for_rows_of(const cudaPitchedPtr& memory, const cudaExtent& extent, const Set& set) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (extent.width > memory.pitch || (extent.depth > 1 && extent.height > memory.ysize))
    return last_error() = cudaErrorInvalidValue;
  for (std::size_t z = 0; z < extent.depth; ++z)
    for (std::size_t y = 0; y < extent.height; ++y)
      if (const cudaError_t e = set(row_of(memory, y, z)); e != cudaSuccess) return e;
  return cudaSuccess;
}

/// Calls `copy(target, source, bytes)` for each row of a copy between two devices.
template <class Copy>
cudaError_t for_rows_of(const cudaMemcpy3DPeerParms* parameters, const Copy& copy) {
  if (parameters == nullptr) return last_error() = cudaErrorInvalidValue;
  const cudaMemcpy3DPeerParms& c = *parameters;
  if (c.srcArray != nullptr || c.dstArray != nullptr || c.srcPtr.ptr == nullptr ||
      c.dstPtr.ptr == nullptr) {
    return last_error() = cudaErrorInvalidValue;
  }
  const auto fits = [&](const cudaPitchedPtr& memory, const cudaPos& at) {
    return at.x + c.extent.width <= memory.pitch &&
           (c.extent.depth <= 1 || at.y + c.extent.height <= memory.ysize);
  };
  if (!fits(c.srcPtr, c.srcPos) || !fits(c.dstPtr, c.dstPos))
    return last_error() = cudaErrorInvalidPitchValue;
  for (std::size_t z = 0; z < c.extent.depth; ++z)
    for (std::size_t y = 0; y < c.extent.height; ++y) {
      const cudaError_t error =
          copy(row_of(c.dstPtr, c.dstPos.y + y, c.dstPos.z + z) + c.dstPos.x,
               row_of(c.srcPtr, c.srcPos.y + y, c.srcPos.z + z) + c.srcPos.x, c.extent.width);
      if (error != cudaSuccess) return error;
    }
  return cudaSuccess;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  if (memory == nullptr) return last_error() = cudaErrorInvalidValue;
  if (extent.height != 0 && extent.depth > SIZE_MAX / extent.height)
    return last_error() = cudaErrorMemoryAllocation;
  cudaPitchedPtr made{nullptr, 0, extent.width, extent.height};
  const cudaError_t error =
      cudaMallocPitch(&made.ptr, &made.pitch, extent.width, extent.height * extent.depth);
  if (error == cudaSuccess) *memory = made;
  return error;
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return for_rows_of(memory, extent,
                     [&](std::byte* row) { return cudaMemset(row, value, extent.width); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return for_rows_of(memory, extent, [&](std::byte* row) {
    return cudaMemsetAsync(row, value, extent.width, stream);
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return for_rows_of(parameters, [&](void* to, const void* from, std::size_t bytes) {
    return cudaMemcpyPeer(to, parameters->dstDevice, from, parameters->srcDevice, bytes);
  });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return for_rows_of(parameters, [&](void* to, const void* from, std::size_t bytes) {
    return cudaMemcpyPeerAsync(to, parameters->dstDevice, from, parameters->srcDevice, bytes,
                               stream);
  });
}
