#include "harness/execute/yardsticks.h"

#include <algorithm>
#include <utility>

#include "harness/execute/memory.h"

namespace assay {
namespace {

constexpr double share_of_memory = 1.0 / 8;

double memory_bytes(const Device& device) {
  return static_cast<double>(device.info().memory_total_bytes.value_or(0));
}

}  // namespace

Trial* Yardsticks::find(const std::string& case_id, const std::string& device) {
  const auto found = std::ranges::find_if(
      kept_, [&](const Kept& one) { return one.case_id == case_id && one.device == device; });
  if (found == kept_.end()) return nullptr;
  std::rotate(found, std::next(found), kept_.end());
  return kept_.back().trial.get();
}

bool Yardsticks::may_keep(const OpInstance& op, const Device& device) {
  // Its inputs and right outputs lie on the host until it is verified.
  return tensor_bytes(op) <= share_of_memory * memory_bytes(device) &&
         !too_little_memory(host_bytes(op, device.is_host()), available_host_bytes());
}

Trial& Yardsticks::keep(const std::string& case_id, const std::string& device,
                        std::unique_ptr<Trial> trial) {
  const double limit = share_of_memory * memory_bytes(trial->device());
  kept_.push_back({case_id, device, std::move(trial)});
  double bytes = 0;
  auto first = kept_.end();
  while (first != kept_.begin()) {
    bytes += tensor_bytes(std::prev(first)->trial->op());
    if (bytes > limit) break;
    --first;
  }
  kept_.erase(kept_.begin(), first);
  return *kept_.back().trial;
}

void Yardsticks::make_room(const OpInstance& op, const Device& device) {
  if (2 * tensor_bytes(op) > memory_bytes(device)) kept_.clear();
}

}  // namespace assay
