#pragma once

#include <span>

#include "kernels/device/backend_traits.h"
#include "kernels/device/device_info.h"
#include "suites/growth.h"

namespace assay::cli {

/// Returns the growth for devices with memory of their own: the largest of their caches decides,
/// and the smallest memory. CPUs keep the sizes of the profile, as a share of a processor often
/// sees the cache of all of it; so do stand-ins, which have no speed.
Growth growth_for(std::span<const DeviceInfo> devices, std::span<const BackendTraits> backends);

}  // namespace assay::cli
