#pragma once

#include <optional>

#include "harness/records/limit_kind.h"
#include "kernels/device/device_info.h"

namespace assay::measure {

/// Limit that a device's clocks, units and widths allow, in the unit of that limit; empty where
/// unknown. Matrix units: operations per clock and multiprocessor of the architecture's best dense
/// products, by NVIDIA's data sheets and whitepapers; some products reach half. Empty for a CPU:
/// its processors may share a core.
std::optional<double> theoretical(const DeviceInfo& device, LimitKind limit);

}  // namespace assay::measure
