#pragma once

#include "emulator/libraries/cublas_lt/rules.h"
#include "emulator/machine/machine.h"

namespace emulator::cublas_lt {

/// Least time of a product on a GPU, by the rate of its units. 0 where that is not known here.
double product_time_s(const Problem& problem, const GpuModel& gpu);

}  // namespace emulator::cublas_lt
