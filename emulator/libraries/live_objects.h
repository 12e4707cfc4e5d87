#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

namespace emulator {

/// The live objects of one type behind a library's opaque handles, so that a null, foreign or
/// destroyed handle is recognised and not followed. Thread-safe.
template <class T>
class LiveObjects {
 public:
  static LiveObjects& all() {
    static LiveObjects objects;
    return objects;
  }

  T* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* const handle = object.get();
    live_.emplace(handle, std::move(object));
    return handle;
  }
  /// Returns null if the handle is not live.
  std::shared_ptr<T> find(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(handle);
    return found == live_.end() ? nullptr : found->second;
  }
  bool remove(const void* handle) {
    const std::lock_guard lock(mutex_);
    return live_.erase(handle) == 1;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> live_;
};

}  // namespace emulator
