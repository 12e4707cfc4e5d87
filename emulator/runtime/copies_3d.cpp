#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "emulator/runtime/process.h"

// Copies of boxes between arrays and pitched memory: rows, which cudaMemcpy and cudaMemcpyAsync
// copy and check.
namespace emulator {
namespace {

/// One side of a copy. Distances are in bytes.
struct Box {
  std::uintptr_t begin = 0;
  std::size_t row_bytes = 0, slice_bytes = 0;
  std::size_t texel_bytes = 0;  // of an array; 0: it is memory
};

struct Extent {
  std::size_t width, height, depth;  // bytes, rows and slices
};

/// `width` counts texels.
cudaError_t box_of(const Process& p, cudaArray_const_t handle, const cudaPos& at,
                   const cudaExtent& extent, Box& box) {
  const auto array = p.arrays.find(const_cast<cudaArray_t>(handle));
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  const Image& image = array->image;
  const auto fits = [](std::size_t from, std::size_t count, std::size_t size) {
    return from <= size && count <= size - from;
  };
  if (!fits(at.x, extent.width, image.size[0]) || !fits(at.y, extent.height, image.size[1]) ||
      !fits(at.z, extent.depth, image.size[2]))
    return cudaErrorInvalidValue;
  box = {image.at(at.x, at.y, at.z), image.row_bytes, image.slice_bytes, image.format.bytes()};
  return cudaSuccess;
}

Box box_of(const cudaPitchedPtr& memory, const cudaPos& at) {
  Box box{reinterpret_cast<std::uintptr_t>(memory.ptr), memory.pitch, memory.pitch * memory.ysize};
  box.begin += at.z * box.slice_bytes + at.y * box.row_bytes + at.x;
  return box;
}

/// Calls `copy(to, from, bytes)` for each part that lies in one piece on both sides.
template <class Copy>
cudaError_t for_parts(const Box& to, const Box& from, Extent extent, const Copy& copy) {
  const bool has_rows = extent.height > 1 || extent.depth > 1;
  const auto is_too_narrow = [&](const Box& box) {
    return has_rows && extent.width > box.row_bytes;
  };
  if (is_too_narrow(to) || is_too_narrow(from)) return last_error() = cudaErrorInvalidPitchValue;
  const auto are_apart = [&](std::size_t Box::*distance, std::size_t bytes) {
    return to.*distance == bytes && from.*distance == bytes;
  };
  Box target = to, source = from;
  if (extent.height > 1 && are_apart(&Box::row_bytes, extent.width)) {
    extent.width *= extent.height;
    extent.height = 1;
  }
  if (extent.height == 1 && extent.depth > 1 && are_apart(&Box::slice_bytes, extent.width)) {
    extent.width *= extent.depth;
    extent.depth = 1;
  }
  for (std::size_t z = 0; z < extent.depth; ++z) {
    for (std::size_t y = 0; y < extent.height; ++y) {
      const auto at = [&](const Box& box) {
        return reinterpret_cast<void*>(box.begin + z * box.slice_bytes + y * box.row_bytes);
      };
      if (const cudaError_t e = copy(at(target), at(source), extent.width); e != cudaSuccess)
        return e;
    }
  }
  return cudaSuccess;
}

/// Finds both sides and the extent in bytes. It counts texels where an array takes part.
cudaError_t resolve(const cudaMemcpy3DParms& parameters, Box& to, Box& from, Extent& extent) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const cudaMemcpy3DParms& c = parameters;
    // Each side is an array or memory, and not both.
    if ((c.srcArray != nullptr) == (c.srcPtr.ptr != nullptr) ||
        (c.dstArray != nullptr) == (c.dstPtr.ptr != nullptr))
      return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    if (c.srcArray != nullptr)
      error = box_of(p, c.srcArray, c.srcPos, c.extent, from);
    else
      from = box_of(c.srcPtr, c.srcPos);
    if (error != cudaSuccess) return error;
    if (c.dstArray != nullptr)
      error = box_of(p, c.dstArray, c.dstPos, c.extent, to);
    else
      to = box_of(c.dstPtr, c.dstPos);
    if (error != cudaSuccess) return error;
    const bool are_arrays = from.texel_bytes != 0 && to.texel_bytes != 0;
    if (are_arrays && from.texel_bytes != to.texel_bytes) return cudaErrorInvalidValue;
    const std::size_t texel = std::max({from.texel_bytes, to.texel_bytes, std::size_t{1}});
    extent = {c.extent.width * texel, c.extent.height, c.extent.depth};
    return cudaSuccess;
  });
}

template <class Copy>
cudaError_t copy_box(const cudaMemcpy3DParms* parameters, const Copy& copy) {
  if (parameters == nullptr) return last_error() = cudaErrorInvalidValue;
  Box to, from;
  Extent extent{};
  if (const cudaError_t e = resolve(*parameters, to, from, extent); e != cudaSuccess) return e;
  return for_parts(to, from, extent, copy);
}

/// A part of one slice of an array, by whose texels the calls for two dimensions do not count: they
/// count bytes.
cudaError_t box_of_bytes(cudaArray_const_t handle, std::size_t x_bytes, std::size_t y,
                         std::size_t width_bytes, std::size_t height, Box& box) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto array = p.arrays.find(const_cast<cudaArray_t>(handle));
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    const std::size_t texel = array->image.format.bytes();
    if (x_bytes % texel != 0 || width_bytes % texel != 0) return cudaErrorInvalidValue;
    return box_of(p, handle, {x_bytes / texel, y, 0}, {width_bytes / texel, height, 1}, box);
  });
}

Box memory_box(const void* memory, std::size_t pitch) {
  return {reinterpret_cast<std::uintptr_t>(memory), pitch, 0};
}

/// `count` bytes from a place of an array on, over the ends of its rows: calls
/// `copy(part of the array, bytes before it, bytes)`.
template <class Copy>
cudaError_t for_rows_of(cudaArray_const_t handle, std::size_t x_bytes, std::size_t y,
                        std::size_t count, const Copy& copy) {
  Box box;
  if (const cudaError_t e = box_of_bytes(handle, x_bytes, y, 0, 1, box); e != cudaSuccess) return e;
  for (std::size_t done = 0; done < count; ++y, x_bytes = 0) {
    const std::size_t bytes = std::min(count - done, box.row_bytes - x_bytes);
    if (const cudaError_t e = box_of_bytes(handle, x_bytes, y, bytes, 1, box); e != cudaSuccess)
      return e;
    if (const cudaError_t e = copy(reinterpret_cast<std::byte*>(box.begin), done, bytes);
        e != cudaSuccess)
      return e;
    done += bytes;
  }
  return cudaSuccess;
}

auto copier(cudaMemcpyKind kind) {
  return [kind](void* to, const void* from, std::size_t bytes) {
    return cudaMemcpy(to, from, bytes, kind);
  };
}

auto copier(cudaMemcpyKind kind, cudaStream_t stream) {
  return [kind, stream](void* to, const void* from, std::size_t bytes) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
  };
}

template <class Copy>
cudaError_t copy_to_array(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                          std::size_t pitch, std::size_t width, std::size_t height,
                          const Copy& copy) {
  Box box;
  if (const cudaError_t e = box_of_bytes(to, x, y, width, height, box); e != cudaSuccess) return e;
  return for_parts(box, memory_box(from, pitch), {width, height, 1}, copy);
}

template <class Copy>
cudaError_t copy_from_array(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                            std::size_t y, std::size_t width, std::size_t height,
                            const Copy& copy) {
  Box box;
  if (const cudaError_t e = box_of_bytes(from, x, y, width, height, box); e != cudaSuccess)
    return e;
  return for_parts(memory_box(to, pitch), box, {width, height, 1}, copy);
}

template <class Copy>
cudaError_t copy_bytes_to_array(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t count, const Copy& copy) {
  return for_rows_of(to, x, y, count, [&](std::byte* part, std::size_t done, std::size_t bytes) {
    return copy(part, static_cast<const std::byte*>(from) + done, bytes);
  });
}

template <class Copy>
cudaError_t copy_bytes_from_array(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                  std::size_t count, const Copy& copy) {
  return for_rows_of(from, x, y, count, [&](std::byte* part, std::size_t done, std::size_t bytes) {
    return copy(static_cast<std::byte*>(to) + done, part, bytes);
  });
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_box(parameters, copier(parameters == nullptr ? cudaMemcpyDefault : parameters->kind));
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_box(parameters,
                  copier(parameters == nullptr ? cudaMemcpyDefault : parameters->kind, stream));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return copy_to_array(to, x, y, from, pitch, width, height, copier(kind));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to_array(to, x, y, from, pitch, width, height, copier(kind, stream));
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  return copy_from_array(to, pitch, from, x, y, width, height, copier(kind));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return copy_from_array(to, pitch, from, x, y, width, height, copier(kind, stream));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  Box target, source;
  if (const cudaError_t e = box_of_bytes(to, to_x, to_y, width, height, target); e != cudaSuccess)
    return e;
  if (const cudaError_t e = box_of_bytes(from, from_x, from_y, width, height, source);
      e != cudaSuccess)
    return e;
  return for_parts(target, source, {width, height, 1}, copier(kind));
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes_to_array(to, x, y, from, count, copier(kind));
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes_to_array(to, x, y, from, count, copier(kind, stream));
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes_from_array(to, from, x, y, count, copier(kind));
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes_from_array(to, from, x, y, count, copier(kind, stream));
}
