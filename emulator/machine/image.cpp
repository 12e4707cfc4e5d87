#include "emulator/machine/image.h"

#include <mutex>
#include <utility>

namespace emulator {

std::uint64_t ImageObjects::add(Texture texture) {
  const std::unique_lock lock(mutex_);
  textures_.emplace(++next_, std::make_shared<const Texture>(std::move(texture)));
  return next_;
}

std::uint64_t ImageObjects::add(Surface surface) {
  const std::unique_lock lock(mutex_);
  surfaces_.emplace(++next_, std::make_shared<const Surface>(surface));
  return next_;
}

bool ImageObjects::remove_texture(std::uint64_t handle) {
  const std::unique_lock lock(mutex_);
  return textures_.erase(handle) != 0;
}

bool ImageObjects::remove_surface(std::uint64_t handle) {
  const std::unique_lock lock(mutex_);
  return surfaces_.erase(handle) != 0;
}

std::shared_ptr<const Texture> ImageObjects::texture(std::uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = textures_.find(handle);
  return found == textures_.end() ? nullptr : found->second;
}

std::shared_ptr<const Surface> ImageObjects::surface(std::uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = surfaces_.find(handle);
  return found == surfaces_.end() ? nullptr : found->second;
}

}  // namespace emulator
