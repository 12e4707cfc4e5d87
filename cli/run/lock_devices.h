#pragma once

#include <span>
#include <vector>

#include "harness/supervise/device_lock.h"
#include "kernels/device/backend_traits.h"
#include "kernels/device/device_info.h"

namespace assay::cli {

/// A lock for each device that has a UUID, which is one machine's one device. Throws DeviceBusy,
/// with `wait` only when interrupted.
std::vector<DeviceLock> lock_devices(std::span<const DeviceInfo> devices,
                                     std::span<const BackendTraits> backends, bool wait);

}  // namespace assay::cli
