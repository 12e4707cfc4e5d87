#pragma once

#include <memory>
#include <string>

#include "emulator/machine/function_code.h"

namespace emulator {

/// Whether ASSAY_EMULATOR_COVERAGE names a file. Lines are appended to it, fields apart by tabs:
///
/// - `started`, process id: the process has the emulator. `ended`, process id: it ended by itself,
///   so that nothing that it counted is lost.
/// - `kernel`, bytes of the module's PTX, kernel, instructions executed, instructions, the lines of
///   PTX that were executed, apart by commas. Several times a second while that changes: a process
///   that is killed leaves its last line.
bool coverage_wanted();
void add_to_coverage(std::size_t module_bytes, const std::string& kernel,
                     std::shared_ptr<const KernelCode> code);

}  // namespace emulator
