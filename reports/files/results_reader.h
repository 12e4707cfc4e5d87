#pragma once

#include <filesystem>
#include <istream>
#include <string_view>
#include <vector>

#include "harness/records/record.h"

namespace assay {

/// Reads results.csv back exactly. Columns may stand in any order. Those of later versions are
/// ignored; missing ones leave their fields as they are, but the key and the status of a record
/// must be there. Throws UsageError("NAME:LINE:COLUMN: why"), LINE and COLUMN counted from 1, also
/// for a schema newer than this build's, and for a duplicate key.
std::vector<Record> read_results(std::istream& text, std::string_view name);

/// Throws for a torn last row too.
std::vector<Record> read_results_file(const std::filesystem::path& path);

/// Reads those of a run that goes on or was killed: all but a torn last row (see whole_rows in
/// reports/files/csv_file.h).
std::vector<Record> read_whole_results(const std::filesystem::path& path);

}  // namespace assay
