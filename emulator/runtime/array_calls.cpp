#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emulator/runtime/arrays.h"
#include "emulator/runtime/lacking.h"
#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

/// Extents in texels: those of the programming guide's table "Technical Specifications per Compute
/// Capability", which are the same from 7.5 on.
bool is_too_large(const cudaExtent& e, unsigned flags) {
  const std::size_t width = std::max<std::size_t>(e.width, 1);
  constexpr std::size_t max_layers = 2048;
  if ((flags & cudaArrayCubemap) != 0)
    return width > 32768 || (e.depth != 6 && e.depth > max_layers / 6 * 6);
  if ((flags & cudaArrayLayered) != 0)
    return width > 32768 || e.height > 32768 || e.depth > max_layers;
  if (e.depth != 0) return width > 16384 || e.height > 16384 || e.depth > 16384;
  if (e.height != 0) return width > 131072 || e.height > 65536;
  return width > 131072;
}

/// The table of extents in the documentation of cudaMalloc3DArray.
bool is_extent(const cudaExtent& e, unsigned flags) {
  if (e.width == 0 || is_too_large(e, flags)) return false;
  const bool is_layered = (flags & cudaArrayLayered) != 0;
  if ((flags & cudaArrayCubemap) != 0)
    return e.width == e.height && (is_layered ? e.depth != 0 && e.depth % 6 == 0 : e.depth == 6);
  if (is_layered) return e.depth != 0;
  if ((flags & cudaArrayTextureGather) != 0 && (e.height == 0 || e.depth != 0)) return false;
  return e.height != 0 || e.depth == 0;
}

Image image_of(const cudaExtent& e, const TexelFormat& format) {
  Image image{.format = format};
  image.size = {e.width, std::max<std::size_t>(e.height, 1), std::max<std::size_t>(e.depth, 1)};
  image.row_bytes = image.size[0] * format.bytes();
  image.slice_bytes = image.size[1] * image.row_bytes;
  return image;
}

cudaError_t make_array(Process& p, const cudaChannelFormatDesc* format, const cudaExtent& extent,
                       unsigned flags, cudaArray_t& handle, bool is_level = false) {
  constexpr unsigned known =
      cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
  if (format == nullptr) return cudaErrorInvalidValue;
  if ((flags & ~known) != 0) {
    say_lacking(fmt::format("an array with the flags {:#x} is not emulated", flags));
    return cudaErrorNotSupported;
  }
  const auto texels = texel_format(*format);
  if (!texels) {
    say_lacking(
        "an array of a channel format that is not emulated: 1, 2 or 4 channels of 8, 16 or 32 bits "
        "are");
    return cudaErrorInvalidChannelDescriptor;
  }
  if (!is_extent(extent, flags)) return cudaErrorInvalidValue;
  Array array{current_device(), *format, extent, flags, image_of(extent, *texels), is_level};
  array.image.address =
      p.memory.allocate(current_gpu(p), array.image.size[2] * array.image.slice_bytes);
  if (array.image.address == 0) return cudaErrorMemoryAllocation;
  handle = p.arrays.add(std::make_shared<Array>(array));
  return cudaSuccess;
}

cudaError_t free_array(Process& p, Lock& lock, cudaArray_t handle) {
  const auto array = p.arrays.find(handle);
  p.arrays.remove(handle);  // before other threads may run: of two frees one is refused
  wait_for_device(p, lock, array->device);
  if (sticky_error() == cudaSuccess) p.memory.release(array->image.address);
  return cudaSuccess;
}

}  // namespace

std::optional<TexelFormat> texel_format(const cudaChannelFormatDesc& format) {
  const std::array<int, 4> bits{format.x, format.y, format.z, format.w};
  const auto channels = static_cast<unsigned>(std::ranges::find(bits, 0) - bits.begin());
  const bool are_alike =
      std::all_of(bits.begin(), bits.begin() + channels,
                  [&](int each) { return each == bits[0]; }) &&
      std::all_of(bits.begin() + channels, bits.end(), [](int each) { return each == 0; });
  if (!are_alike || channels == 0 || channels == 3) return std::nullopt;
  if (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) return std::nullopt;
  TexelFormat result{channels, static_cast<unsigned>(bits[0]) / 8};
  switch (format.f) {
    case cudaChannelFormatKindSigned:
      result.kind = ChannelKind::signed_integer;
      return result;
    case cudaChannelFormatKindUnsigned:
      result.kind = ChannelKind::unsigned_integer;
      return result;
    case cudaChannelFormatKindFloat:
      if (bits[0] == 8) return std::nullopt;
      return result;
    default:
      return std::nullopt;
  }
}

ImageShape shape_of(const Array& array) {
  const bool is_layered = (array.flags & cudaArrayLayered) != 0;
  if ((array.flags & cudaArrayCubemap) != 0)
    return is_layered ? ImageShape::cubes : ImageShape::cube;
  if (is_layered)
    return array.extent.height == 0 ? ImageShape::layers_of_one : ImageShape::layers_of_two;
  if (array.extent.depth != 0) return ImageShape::three;
  return array.extent.height == 0 ? ImageShape::one : ImageShape::two;
}

}  // namespace emulator

using namespace emulator;

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    return array == nullptr ? cudaErrorInvalidValue : make_array(p, format, extent, flags, *array);
  });
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height, unsigned flags) {
  if ((flags & (cudaArrayLayered | cudaArrayCubemap)) != 0)
    return last_error() = cudaErrorInvalidValue;
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t handle) {
  return call(Wants::safety, [&](Process& p, Lock& lock) {
    if (handle == nullptr) return cudaSuccess;
    const auto array = p.arrays.find(handle);
    if (array == nullptr || array->is_level) return cudaErrorInvalidValue;
    return free_array(p, lock, handle);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto array = p.arrays.find(handle);
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = array->format;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t handle) {
  if (format == nullptr) return last_error() = cudaErrorInvalidValue;
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(handle));
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* handle,
                                     const cudaChannelFormatDesc* format, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  return call(Wants::safety, [&](Process& p, Lock& lock) {
    if (handle == nullptr || levels == 0) return cudaErrorInvalidValue;
    MipmappedArray made{current_device()};
    const bool has_layers = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    const auto half = [](std::size_t size) { return size > 1 ? size / 2 : size; };
    cudaExtent of_level = extent;
    // Down to one texel, and not further.
    std::size_t largest = std::max({extent.width, extent.height, has_layers ? 0 : extent.depth});
    for (unsigned level = 0; level < levels && largest != 0; ++level, largest /= 2) {
      cudaArray_t array = nullptr;
      const cudaError_t error = make_array(p, format, of_level, flags, array, true);
      if (error != cudaSuccess) {
        for (const cudaArray_t each : made.levels) free_array(p, lock, each);
        return error;
      }
      made.levels.push_back(array);
      of_level = {half(of_level.width), half(of_level.height),
                  has_layers ? of_level.depth : half(of_level.depth)};
    }
    if (made.levels.empty()) return cudaErrorInvalidValue;
    *handle = p.mipmapped_arrays.add(std::make_shared<MipmappedArray>(std::move(made)));
    return cudaSuccess;
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t handle,
                                       unsigned level) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto found = p.mipmapped_arrays.find(const_cast<cudaMipmappedArray_t>(handle));
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    if (array == nullptr || level >= found->levels.size()) return cudaErrorInvalidValue;
    *array = found->levels[level];
    return cudaSuccess;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t handle) {
  return call(Wants::safety, [&](Process& p, Lock& lock) {
    if (handle == nullptr) return cudaSuccess;
    const auto found = p.mipmapped_arrays.find(handle);
    if (found == nullptr) return cudaErrorInvalidValue;
    p.mipmapped_arrays.remove(handle);
    for (const cudaArray_t each : found->levels) free_array(p, lock, each);
    return cudaSuccess;
  });
}
