#pragma once

#include <filesystem>
#include <istream>
#include <string_view>
#include <vector>

#include "harness/records/record.h"

namespace assay {

/// Reads results.csv back, exactly what was written. Columns may stand in any order. Those of later
/// versions are passed over, and those that came later than the file leave their fields as they
/// are, but the key of a record and its status must be there. Throws
/// UsageError("NAME:LINE:COLUMN: why"), LINE and COLUMN counted from 1, also for a file of a schema
/// that is newer than this build's, and for a key that is there twice.
std::vector<Record> read_results(std::istream& text, std::string_view name);

/// A last row that was torn is an error too.
std::vector<Record> read_results_file(const std::filesystem::path& path);

/// Reads those of a run that goes on or was killed: all but a last row that is torn (see whole_rows
/// in reports/files/csv_file.h).
std::vector<Record> read_whole_results(const std::filesystem::path& path);

}  // namespace assay
