#include "session/machine/lock_devices.h"

#include <set>
#include <string>

#include "session/console/stderr_message.h"
#include "session/process/interrupt.h"

namespace assay {

std::vector<DeviceLock> lock_devices(std::span<const DeviceInfo> devices,
                                     std::span<const BackendTraits> backends, bool wait) {
  std::set<std::string> uuids;  // in one order for all runs, or two could wait for each other
  for (const DeviceInfo& device : devices) {
    // Leaves out ranks, which belong to their job.
    const bool is_rank = traits_of(backends, device.backend).memory == MemorySpace::remote;
    if (!device.uuid.empty() && !is_rank) uuids.insert(device.uuid);
  }
  std::vector<DeviceLock> locks;
  for (const std::string& uuid : uuids) {
    locks.emplace_back(DeviceLock::folder(), uuid, wait, interrupted,
                       [](const std::string& busy) { say("waiting: {}\n", busy); });
  }
  return locks;
}

}  // namespace assay
