#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace assay::cuda {

/// Caches communicators by GPU ordinals in rank order, and by processes: creating one takes
/// seconds. Thread-safe for different keys.
template <class Made>
class CommunicatorCache {
 public:
  struct Key {
    std::vector<int> ordinals;             // of this process
    std::vector<std::uint64_t> processes;  // random names in rank order; empty: this one alone
    auto operator<=>(const Key&) const = default;
  };
  /// Calls `make` if the key has no communicator, or an unsound one. `agree` gets whether this
  /// process has a sound one, and returns whether all have: else all make a new one together.
  template <class Agree, class Make>
  std::shared_ptr<Made> get(const Key& key, const Agree& agree, const Make& make) {
    std::shared_ptr<Made>& held = at(key);
    if (held != nullptr && !held->is_sound()) held.reset();
    if (!agree(held != nullptr)) held.reset();
    if (held == nullptr) held = make();
    return held;
  }

 private:
  std::shared_ptr<Made>& at(const Key& key) {
    const std::lock_guard lock(mutex_);
    return made_[key];
  }

  std::mutex mutex_;  // of the map, not of its communicators: processes wait for each other
  std::map<Key, std::shared_ptr<Made>> made_;
};

}  // namespace assay::cuda
