#pragma once

#include <string>
#include <string_view>

#include "emulator/runtime/gpus.h"

namespace assay::kernel_counts {

/// Compute capability for which PTX was made, times ten: 75 of ".target sm_75". Throws
/// std::runtime_error for text without one.
int capability_of(std::string_view ptx);

/// Throws UsageError if the GPU does not run the PTX: it would be left out of what is judged.
void check_runs(const emulator::GpuModel& gpu, std::string_view ptx);

}  // namespace assay::kernel_counts
