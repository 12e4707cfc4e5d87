#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace emulator {

/// The file that ASSAY_EMULATOR_JSON names gets a line for each report. It is made when the runtime
/// is first used, which tells that a GPU was. Without the variable nothing is written; aborts if
/// the file cannot be.
void begin_report_file();
void write_report(const nlohmann::ordered_json& report);

}  // namespace emulator
