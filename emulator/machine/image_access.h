#pragma once

#include <memory>

#include "emulator/machine/access.h"
#include "emulator/machine/decoder.h"
#include "emulator/machine/image.h"
#include "emulator/machine/texture_sampling.h"

namespace emulator {

/// The objects behind the handles of a warp's lanes: nearly always one and the same.
class LaneImages {
 public:
  LaneImages(Warp& warp, Place handle) : warp_(warp), handles_(warp.at<std::uint64_t>(handle)) {}

  /// Throws LaneFault for a handle that is none of the launch's GPU.
  const Texture& texture(int lane);
  const Surface& surface(int lane);

 private:
  template <class Object, class Find>
  const Object& find(int lane, std::shared_ptr<const Object>& last, const char* name, Find find);

  Warp& warp_;
  const std::uint64_t* handles_;
  std::uint64_t last_handle_ = 0;
  std::shared_ptr<const Texture> texture_;
  std::shared_ptr<const Surface> surface_;
};

/// Throws LaneFault unless an instruction of shape `wanted` may access an object of shape `is`.
void check_shape(Warp& warp, int lane, ImageShape wanted, ImageShape is);

/// A lane's reads of texels: loads like any others, for the search for races and undefined bytes.
class LaneReader final : public TexelReader {
 public:
  LaneReader(Warp& warp, const Code& code, int lane) : warp_(warp), code_(code), lane_(lane) {}
  Raw read(const Image& image, std::size_t x, std::size_t y, std::size_t z) override;
  Raw read_bytes(std::uintptr_t address, unsigned bytes);

 private:
  Warp& warp_;
  const Code& code_;
  int lane_;
};

/// Collects undefined bits of the registers that an instruction loads, and notes them at its end.
class LoadedBits {
 public:
  void add(std::size_t value, int lane, std::uint64_t bits, bool is_result);
  void note(Warp& warp, const ImageSite& site, Mask lanes);

 private:
  bool any_ = false;
  Mask results_ = 0;
  std::array<std::array<std::uint64_t, warp_lanes>, 4> bits_{};
};

/// Decodes [handle, {coordinates}] of a shape: the layer first, padding last.
void take_image(Decoder& decoder, std::size_t index, ImageSite& site, ptx::Type coordinate);

/// .1d .2d .3d .a1d .a2d .cube .acube
ImageShape take_geometry(Decoder& decoder);

}  // namespace emulator
