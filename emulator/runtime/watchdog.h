#pragma once

#include <cstdint>

#include "emulator/machine/machine.h"

namespace emulator {

/// Least time of a kernel on a GPU: its instructions times lanes, at one warp a clock for each of
/// four schedulers of a multiprocessor.
double issue_time_s(const GpuModel& gpu, std::uint64_t lane_instructions);

}  // namespace emulator
