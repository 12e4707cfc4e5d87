#pragma once

#include <span>

#include "kernels/device/backend_traits.h"
#include "kernels/device/device_info.h"
#include "suites/growth.h"

namespace assay {

/// Returns the growth of the cases of a run on these devices. Those with memory of their own
/// decide: the largest of their caches, and the smallest memory. A CPU does not, as a share of a
/// processor often sees the cache of all of it; beside a GPU it gets the GPU's sizes. Nor do
/// stand-ins, which have no speed.
Growth growth_for(std::span<const DeviceInfo> devices, std::span<const BackendTraits> backends);

}  // namespace assay
