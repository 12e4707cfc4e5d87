#pragma once

#include "kernels/device/device_info.h"

namespace assay::cpu {

/// What /proc, /sys and the libraries say of this machine's CPU. What they do not say stays empty.
DeviceInfo describe_machine();

}  // namespace assay::cpu
