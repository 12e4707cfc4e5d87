#pragma once

#include "kernels/device/device_info.h"

namespace assay::cpu {

/// Describes this machine's CPU by /proc, /sys and the libraries. Unknown fields stay empty.
DeviceInfo describe_machine();

}  // namespace assay::cpu
