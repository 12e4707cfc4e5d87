#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace emulator {

/// Objects by the handles that the program holds. A handle is no address that the host could read,
/// and is never used again: a use after the object's end is found.
template <class Handle, class Object>
class Handles {
 public:
  Handle add(std::shared_ptr<Object> object) {
    static std::uintptr_t next = 0xE000'0000'0000'0000;
    const Handle handle = reinterpret_cast<Handle>(next += 16);
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  /// Returns null for what is no handle, or no longer one.
  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  bool remove(Handle handle) { return objects_.erase(handle) > 0; }
  const std::map<Handle, std::shared_ptr<Object>>& all() const { return objects_; }

 private:
  std::map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace emulator
