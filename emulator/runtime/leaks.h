#pragma once

#include "emulator/runtime/process.h"

namespace emulator {

/// Lists on stderr what the program has not released, if ASSAY_EMULATOR_LEAKS=1.
void report_leaks(const Process& process);

}  // namespace emulator
