#include "harness/measure/least_time.h"

#include <algorithm>

#include "harness/measure/demand.h"
#include "harness/measure/theoretical.h"

namespace assay::measure {

std::optional<double> least_launch_s(const OpInstance& op, const DeviceInfo& device) {
  std::optional<double> least_s;
  for (const Demand& demand : demands(op, device.last_level_cache_bytes)) {
    const Resource resource = demand.limit.resource;
    if (resource == Resource::link_to_device || resource == Resource::link_from_device) continue;
    const auto rate = theoretical(device, demand.limit);
    if (!rate) continue;
    least_s = std::max(least_s.value_or(0), demand.amount / *rate);
  }
  return least_s;
}

}  // namespace assay::measure
