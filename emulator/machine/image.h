#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace emulator {

enum class ChannelKind : unsigned char { signed_integer, unsigned_integer, floating };

struct TexelFormat {
  unsigned channels = 1;
  unsigned channel_bytes = 4;
  ChannelKind kind = ChannelKind::floating;
  unsigned bytes() const { return channels * channel_bytes; }
};

/// Texels in memory of a GPU: those of a CUDA array, or of memory that the program allocated.
struct Image {
  std::uintptr_t address = 0;
  TexelFormat format{};
  std::array<std::size_t, 3> size{1, 1, 1};  // in texels; the third: slices, layers or faces
  std::size_t row_bytes = 0, slice_bytes = 0;

  std::uintptr_t at(std::size_t x, std::size_t y, std::size_t z) const {
    return address + z * slice_bytes + y * row_bytes + x * format.bytes();
  }
};

enum class ImageShape : unsigned char {
  linear,  // memory without rows, which only whole numbers index
  one,
  two,
  three,
  layers_of_one,
  layers_of_two,
  cube,  // six faces
  cubes,
};

enum class Addressing : unsigned char { wrap, clamp, mirror, border };

/// A texture object: texels, and how they are fetched.
struct Texture {
  int gpu = 0;
  ImageShape shape = ImageShape::two;
  std::vector<Image> levels{};
  std::array<Addressing, 3> addressing{};
  std::array<float, 4> border{};
  bool has_normalized_coordinates = false;
  bool is_filtered = false;       // linearly, else the nearest texel
  bool reads_normalized = false;  // integers of 8 and 16 bits as floats in [0, 1] or [-1, 1]
  bool is_srgb = false;           // converted to linear
  bool filters_levels = false;
  bool can_gather = true;
  float level_bias = 0, min_level = 0, max_level = 0;
};

struct Surface {
  int gpu = 0;
  ImageShape shape = ImageShape::two;
  Image image{};
};

/// Texture and surface objects by the handles that kernels get. No handle is given out twice, so
/// that a use after the object's end is found. A launch has those of the moment it was asked for:
/// NVIDIA's samples destroy objects while kernels that use them still run.
class ImageObjects {
 public:
  std::uint64_t add(Texture texture);
  std::uint64_t add(Surface surface);
  void remove_texture(std::uint64_t handle);
  void remove_surface(std::uint64_t handle);
  /// Null: no such object.
  std::shared_ptr<const Texture> texture(std::uint64_t handle) const;
  std::shared_ptr<const Surface> surface(std::uint64_t handle) const;

 private:
  std::uint64_t next_ = 0x7e87'0000'0000'0000;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Texture>> textures_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Surface>> surfaces_;
};

}  // namespace emulator
