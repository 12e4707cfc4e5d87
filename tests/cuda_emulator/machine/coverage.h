#pragma once

#include <memory>
#include <string>

#include "tests/cuda_emulator/machine/function_code.h"

namespace emulator {

/// Whether ASSAY_EMULATOR_COVERAGE names a file. At the end of the process, one line for each
/// kernel that was compiled is appended to it, fields apart by tabs: the module's file, the kernel,
/// instructions executed, instructions, and the lines of PTX that were not executed, apart by
/// commas.
bool coverage_wanted();
void add_to_coverage(const std::string& file, const std::string& kernel,
                     std::shared_ptr<const KernelCode> code);

}  // namespace emulator
