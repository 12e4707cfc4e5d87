#pragma once

#include <span>
#include <vector>

#include "harness/supervise/device_lock.h"
#include "kernels/device/backend_traits.h"
#include "kernels/device/device_info.h"

namespace assay {

/// Locks each device that has a UUID, which names one device of one machine. Throws DeviceBusy;
/// with `wait` only if interrupted.
std::vector<DeviceLock> lock_devices(std::span<const DeviceInfo> devices,
                                     std::span<const BackendTraits> backends, bool wait);

}  // namespace assay
