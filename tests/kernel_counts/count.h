#pragma once

#include <vector>

#include "emulator/machine/counts/counts.h"
#include "harness/plan/case.h"
#include "kernels/device/backend.h"

namespace assay::kernel_counts {

/// Counts of the kernels that one launch of the case runs, on real data. Throws DeviceError.
std::vector<emulator::KernelCounts> count(const Case& test, Backend& backend, Device& device);

}  // namespace assay::kernel_counts
