#pragma once

#include "kernels/cpu/topology.h"
#include "kernels/device/device_info.h"

namespace assay::cpu {

/// Describes this machine's CPU by /proc, /sys and the libraries. Unknown fields stay empty.
DeviceInfo describe_machine();

void describe_caches(const CacheBytes& caches, DeviceInfo& info);

}  // namespace assay::cpu
