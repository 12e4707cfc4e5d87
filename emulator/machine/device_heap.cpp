#include "emulator/machine/device_heap.h"

namespace emulator {

std::uintptr_t DeviceHeap::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  is_used_ = true;
  if (bytes == 0 || bytes > limit_bytes_ - used_bytes_) return 0;
  const std::uintptr_t address = memory_.allocate(gpu_, bytes);
  if (address == 0) return 0;
  live_.emplace(address, bytes);
  used_bytes_ += bytes;
  return address;
}

bool DeviceHeap::release(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  used_bytes_ -= found->second;
  live_.erase(found);
  return memory_.release(address);
}

bool DeviceHeap::is_used() const {
  const std::lock_guard lock(mutex_);
  return is_used_;
}

void DeviceHeap::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_bytes_ = bytes;
}

}  // namespace emulator
