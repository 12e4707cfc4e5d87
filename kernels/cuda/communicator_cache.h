#pragma once

#include <map>
#include <memory>
#include <vector>

namespace assay::cuda {

/// What was made for GPUs, by their ordinals in the order of the ranks: to make a communicator
/// takes seconds.
template <class Made>
class CommunicatorCache {
 public:
  /// Calls `make` where there is none for these GPUs, or only one that broke.
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
