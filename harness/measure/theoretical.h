#pragma once

#include <optional>
#include <string_view>

#include "kernels/device/device_info.h"

namespace assay::measure {

/// What a device's clocks, units and widths would allow, in the unit of that limit; none where they
/// are not known. Of matrix units: operations a clock and multiprocessor of the architecture's best
/// products, by NVIDIA's data sheets and whitepapers, dense; some products have half of it.
/// Of a CPU nothing: its processors may share a core.
std::optional<double> theoretical(const DeviceInfo& device, std::string_view limit);

}  // namespace assay::measure
