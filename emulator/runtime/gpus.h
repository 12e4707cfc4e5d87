#pragma once

#include <span>
#include <string_view>

#include "emulator/machine/machine.h"

namespace emulator {

/// The GPUs that can be emulated. Their facts are from public data sheets.
std::span<const GpuModel> gpu_models();
/// Returns null for an unknown name.
const GpuModel* find_gpu_model(std::string_view name);
/// The smallest slice of a GPU that supports MIG (compute capability 8.0 and higher, with 7 compute
/// slices): a seventh of its multiprocessors and an eighth of its memory and second-level cache.
GpuModel mig_slice_of(const GpuModel& gpu);

}  // namespace emulator
