#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "emulator/runtime/process.h"
#include "emulator/runtime/say.h"

// Texture and surface objects. Neither waits for kernels that use them, nor is waited for.
namespace emulator {
namespace {

/// A refusal with its reason, which the error code does not tell.
cudaError_t refuse(const char* what, const std::string& why,
                   cudaError_t error = cudaErrorInvalidValue) {
  say(fmt::format("a {} object is refused: {}", what, why));
  return error;
}

/// Adds an array's texels as one level.
cudaError_t add_level(const Process& p, cudaArray_t handle, Texture& texture) {
  const auto array = p.arrays.find(handle);
  if (array == nullptr) return refuse("texture", "its array does not exist");
  texture.gpu = p.devices.gpu(array->device);
  if (texture.levels.empty()) {
    texture.shape = shape_of(*array);
    texture.can_gather = (array->flags & cudaArrayTextureGather) != 0;
  }
  texture.levels.push_back(array->image);
  return cudaSuccess;
}

/// Device memory that a texture may read: `bytes` from the address on, aligned as real allocations
/// are.
cudaError_t check_memory(const Process& p, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto allocation = p.memory.find(address);
  if (!allocation || allocation->owner == host)
    return refuse("texture", "its memory is not a GPU's: it is " + p.memory.describe(address));
  if (bytes > allocation->bytes - (address - allocation->begin))
    return refuse("texture", fmt::format("its {} bytes end past the allocation: it is {}", bytes,
                                         p.memory.describe(address)));
  // Allocations of real GPUs are aligned to it, those of this one to less.
  if ((address - allocation->begin) % texture_alignment != 0)
    return refuse("texture", fmt::format("its memory is not aligned to {} bytes (textureAlignment)",
                                         texture_alignment));
  return cudaSuccess;
}

cudaError_t add_linear(const Process& p, const cudaResourceDesc& resource, Texture& texture) {
  const auto& linear = resource.res.linear;
  const auto format = texel_format(linear.desc);
  if (!format) return refuse("texture", "its channel format", cudaErrorInvalidChannelDescriptor);
  constexpr std::size_t max_texels = std::size_t{1} << 28;
  const std::size_t texels = linear.sizeInBytes / format->bytes();
  if (texels == 0 || texels > max_texels)
    return refuse("texture", fmt::format("linear memory of {} texels", texels));
  if (const cudaError_t e = check_memory(p, linear.devPtr, linear.sizeInBytes); e != cudaSuccess)
    return e;
  texture.shape = ImageShape::linear;
  texture.levels.push_back({reinterpret_cast<std::uintptr_t>(linear.devPtr),
                            *format,
                            {texels, 1, 1},
                            linear.sizeInBytes,
                            linear.sizeInBytes});
  return cudaSuccess;
}

cudaError_t add_pitched(const Process& p, const cudaResourceDesc& resource, Texture& texture) {
  const auto& pitched = resource.res.pitch2D;
  const auto format = texel_format(pitched.desc);
  if (!format) return refuse("texture", "its channel format", cudaErrorInvalidChannelDescriptor);
  const std::size_t row = pitched.width * format->bytes();
  if (pitched.width == 0 || pitched.height == 0 || pitched.width > 131072 || pitched.height > 65000)
    return refuse("texture",
                  fmt::format("memory of {} by {} texels", pitched.width, pitched.height));
  if (pitched.pitchInBytes < row || pitched.pitchInBytes % texture_pitch_alignment != 0)
    return refuse("texture", fmt::format("a pitch of {} bytes, where a row has {} and "
                                         "texturePitchAlignment is {}",
                                         pitched.pitchInBytes, row, texture_pitch_alignment));
  const std::size_t bytes = (pitched.height - 1) * pitched.pitchInBytes + row;
  if (const cudaError_t e = check_memory(p, pitched.devPtr, bytes); e != cudaSuccess) return e;
  texture.shape = ImageShape::two;
  texture.levels.push_back({reinterpret_cast<std::uintptr_t>(pitched.devPtr),
                            *format,
                            {pitched.width, pitched.height, 1},
                            pitched.pitchInBytes,
                            bytes});
  return cudaSuccess;
}

cudaError_t add_levels(const Process& p, const cudaResourceDesc& resource, Texture& texture) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return add_level(p, resource.res.array.array, texture);
    case cudaResourceTypeMipmappedArray: {
      const auto mipmap = p.mipmapped_arrays.find(resource.res.mipmap.mipmap);
      if (mipmap == nullptr) return refuse("texture", "its mipmapped array does not exist");
      for (const cudaArray_t each : mipmap->levels)
        if (const cudaError_t e = add_level(p, each, texture); e != cudaSuccess) return e;
      return cudaSuccess;
    }
    case cudaResourceTypeLinear:
      return add_linear(p, resource, texture);
    case cudaResourceTypePitch2D:
      return add_pitched(p, resource, texture);
    default:
      return refuse("texture", "an unknown type of resource");
  }
}

/// Keeps the levels and layers that the view names.
cudaError_t restrict_to(const cudaResourceViewDesc& view, Texture& texture) {
  if (view.format != cudaResViewFormatNone)
    return refuse("texture", "a view of another format is not emulated", cudaErrorNotSupported);
  if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= texture.levels.size())
    return refuse("texture", "its view names levels that do not exist");
  texture.levels = {texture.levels.begin() + view.firstMipmapLevel,
                    texture.levels.begin() + view.lastMipmapLevel + 1};
  const bool is_layered =
      texture.shape == ImageShape::layers_of_one || texture.shape == ImageShape::layers_of_two;
  if (!is_layered) {
    if (view.firstLayer != 0 || view.lastLayer != 0)
      return refuse("texture", "a view of some layers of this shape is not emulated");
    return cudaSuccess;
  }
  for (Image& image : texture.levels) {
    if (view.firstLayer > view.lastLayer || view.lastLayer >= image.size[2])
      return refuse("texture", "its view names layers that do not exist");
    image.address += view.firstLayer * image.slice_bytes;
    image.size[2] = view.lastLayer - view.firstLayer + 1;
  }
  return cudaSuccess;
}

cudaError_t describe(const cudaTextureDesc& from, Texture& texture) {
  const TexelFormat& format = texture.levels.front().format;
  texture.has_normalized_coordinates = from.normalizedCoords != 0;
  texture.reads_normalized = from.readMode == cudaReadModeNormalizedFloat;
  texture.is_srgb = from.sRGB != 0;
  for (std::size_t k = 0; k < 3; ++k) {
    if (from.addressMode[k] > cudaAddressModeBorder)
      return refuse("texture", "an unknown address mode");
    texture.addressing[k] = static_cast<Addressing>(from.addressMode[k]);
  }
  std::memcpy(texture.border.data(), from.borderColor, sizeof from.borderColor);
  texture.level_bias = from.mipmapLevelBias;
  texture.min_level = from.minMipmapLevelClamp;
  texture.max_level = from.maxMipmapLevelClamp;
  texture.filters_levels = from.mipmapFilterMode == cudaFilterModeLinear;
  if (texture.shape == ImageShape::linear) return cudaSuccess;
  texture.is_filtered = from.filterMode == cudaFilterModeLinear;
  const bool gives_floats = format.kind == ChannelKind::floating ||
                            (texture.reads_normalized && format.channel_bytes < 4);
  if (texture.is_filtered && !gives_floats)
    return refuse("texture", "integers are not filtered unless they are read as floats",
                  cudaErrorInvalidFilterSetting);
  const bool is_cube = texture.shape == ImageShape::cube || texture.shape == ImageShape::cubes;
  if (from.seamlessCubemap != 0) {
    if (!is_cube) return refuse("texture", "seamlessCubemap is for cubemaps only");
    if (texture.is_filtered)
      return refuse("texture", "filters across the edges of a cube are not emulated",
                    cudaErrorNotSupported);
    texture.addressing.fill(Addressing::clamp);
  }
  // Coordinates on a face are in [0, 1] always.
  if (is_cube) texture.has_normalized_coordinates = true;
  return cudaSuccess;
}

template <class Body>
void change(Process& p, const Body& body) {
  auto changed = std::make_shared<ImageObjects>(*p.images);
  body(*changed);
  p.images = std::move(changed);
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (object == nullptr || resource == nullptr || description == nullptr)
      return cudaErrorInvalidValue;
    Texture texture{.gpu = current_gpu(p)};
    if (const cudaError_t e = add_levels(p, *resource, texture); e != cudaSuccess) return e;
    if (view != nullptr) {
      const bool is_array = resource->resType == cudaResourceTypeArray ||
                            resource->resType == cudaResourceTypeMipmappedArray;
      if (!is_array) return refuse("texture", "only arrays have views");
      if (const cudaError_t e = restrict_to(*view, texture); e != cudaSuccess) return e;
    }
    if (const cudaError_t e = describe(*description, texture); e != cudaSuccess) return e;
    change(p, [&](ImageObjects& all) { *object = all.add(std::move(texture)); });
    p.textures[*object] = {
        *resource, *description,
        view == nullptr ? std::nullopt : std::optional<cudaResourceViewDesc>(*view)};
    return cudaSuccess;
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (object == 0) return cudaSuccess;
    if (p.textures.erase(object) == 0) return cudaErrorInvalidValue;
    change(p, [&](ImageObjects& all) { all.remove_texture(object); });
    return cudaSuccess;
  });
}

namespace {

/// Calls `body` with the description of a texture object.
template <class Body>
cudaError_t with_texture(const void* to, cudaTextureObject_t object, const Body& body) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto found = p.textures.find(object);
    if (to == nullptr || found == p.textures.end()) return cudaErrorInvalidValue;
    return body(found->second);
  });
}

}  // namespace

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return with_texture(resource, object, [&](const TextureDescription& description) {
    *resource = description.resource;
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  return with_texture(texture, object, [&](const TextureDescription& description) {
    *texture = description.texture;
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                 cudaTextureObject_t object) {
  return with_texture(view, object, [&](const TextureDescription& description) {
    // "Returns cudaErrorInvalidValue if no resource view was specified."
    if (!description.view) return cudaErrorInvalidValue;
    *view = *description.view;
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (object == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    if (resource->resType != cudaResourceTypeArray)
      return refuse("surface", "its resource is no array");
    const auto array = p.arrays.find(resource->res.array.array);
    if (array == nullptr)
      return refuse("surface", "its array does not exist", cudaErrorInvalidResourceHandle);
    if ((array->flags & cudaArraySurfaceLoadStore) == 0)
      return refuse("surface", "its array was made without cudaArraySurfaceLoadStore");
    const Surface surface{p.devices.gpu(array->device), shape_of(*array), array->image};
    change(p, [&](ImageObjects& all) { *object = all.add(surface); });
    p.surfaces[*object] = *resource;
    return cudaSuccess;
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (object == 0) return cudaSuccess;
    if (p.surfaces.erase(object) == 0) return cudaErrorInvalidValue;
    change(p, [&](ImageObjects& all) { all.remove_surface(object); });
    return cudaSuccess;
  });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto found = p.surfaces.find(object);
    if (resource == nullptr || found == p.surfaces.end()) return cudaErrorInvalidValue;
    *resource = found->second;
    return cudaSuccess;
  });
}
