#include "session/machine/growth_for_devices.h"

#include <algorithm>

#include "harness/measure/demand.h"

namespace assay {
namespace {

/// Share of a device's memory that one case may take: guards, references and results lie there too.
constexpr double share_of_memory = 0.125;

}  // namespace

Growth growth_for(std::span<const DeviceInfo> devices, std::span<const BackendTraits> backends) {
  Growth growth;
  for (const DeviceInfo& device : devices) {
    if (traits_of(backends, device.backend).memory != MemorySpace::device) continue;
    if (!device.stand_in.empty()) continue;
    if (device.last_level_cache_bytes) {
      growth.min_bytes =
          std::max(growth.min_bytes,
                   static_cast<double>(measure::caches_to_exceed * *device.last_level_cache_bytes));
    }
    if (device.memory_total_bytes) {
      growth.max_bytes = std::min(
          growth.max_bytes, share_of_memory * static_cast<double>(*device.memory_total_bytes));
    }
  }
  return growth;
}

}  // namespace assay
