#pragma once

#include <optional>

#include "kernels/device/device_info.h"
#include "kernels/ops/op.h"

namespace assay::measure {

/// Least time of one launch, by the theoretical rates of its device. Empty where none is known, and
/// for copies over a link, which no watchdog ends.
std::optional<double> least_launch_s(const OpInstance& op, const DeviceInfo& device);

/// Longest launch by that rate that a device is given: others wait for it, nothing can end it, and
/// real rates are lower. A fourth of what the watchdog of a display allows (Microsoft, "TDR
/// registry keys": 2 s).
inline constexpr double max_launch_s = 0.5;

}  // namespace assay::measure
