#pragma once

#include <map>
#include <memory>
#include <vector>

namespace assay::cuda {

/// Caches communicators by GPU ordinals in rank order: creating one takes seconds.
template <class Made>
class CommunicatorCache {
 public:
  /// Calls `make` if these GPUs have no communicator, or a broken one.
  template <class Make>
  std::shared_ptr<Made> get(const std::vector<int>& ordinals, const Make& make) {
    std::shared_ptr<Made>& held = made_[ordinals];
    if (held != nullptr && held->is_broken()) held.reset();
    if (held == nullptr) held = make();
    return held;
  }

 private:
  std::map<std::vector<int>, std::shared_ptr<Made>> made_;
};

}  // namespace assay::cuda
