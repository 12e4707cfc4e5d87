#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <vector>

#include "emulator/machine/image.h"

namespace emulator {

/// A CUDA array: texels whose place only copies, textures and surfaces know.
struct Array {
  int device = 0;
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as the program gave it: zeros for missing dimensions
  unsigned flags = 0;
  Image image{};
  bool is_level = false;  // of a mipmapped array, which ends it
};

struct MipmappedArray {
  int device = 0;
  std::vector<cudaArray_t> levels{};
};

struct TextureDescription {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  std::optional<cudaResourceViewDesc> view{};
};

/// None: no format that textures have.
std::optional<TexelFormat> texel_format(const cudaChannelFormatDesc& format);

ImageShape shape_of(const Array& array);

/// Textures' limits of the programming guide's table, the same for all emulated GPUs.
inline constexpr std::size_t texture_alignment = 512, texture_pitch_alignment = 32;

}  // namespace emulator
