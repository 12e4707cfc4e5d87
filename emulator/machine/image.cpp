#include "emulator/machine/image.h"

#include <utility>

namespace emulator {

std::uint64_t ImageObjects::add(Texture texture) {
  textures_.emplace(++next_, std::make_shared<const Texture>(std::move(texture)));
  return next_;
}

std::uint64_t ImageObjects::add(Surface surface) {
  surfaces_.emplace(++next_, std::make_shared<const Surface>(surface));
  return next_;
}

void ImageObjects::remove_texture(std::uint64_t handle) { textures_.erase(handle); }

void ImageObjects::remove_surface(std::uint64_t handle) { surfaces_.erase(handle); }

std::shared_ptr<const Texture> ImageObjects::texture(std::uint64_t handle) const {
  const auto found = textures_.find(handle);
  return found == textures_.end() ? nullptr : found->second;
}

std::shared_ptr<const Surface> ImageObjects::surface(std::uint64_t handle) const {
  const auto found = surfaces_.find(handle);
  return found == surfaces_.end() ? nullptr : found->second;
}

}  // namespace emulator
