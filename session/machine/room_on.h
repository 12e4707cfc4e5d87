#pragma once

#include "kernels/device/device_info.h"
#include "suites/limit_cases.h"

namespace assay {

/// Room for the cases that measure a device's limits, or soak it.
Room room_on(const DeviceInfo& device);

}  // namespace assay
