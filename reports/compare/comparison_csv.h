#pragma once

#include <string>
#include <vector>

#include "reports/compare/comparison.h"
#include "reports/files/output_file.h"

namespace assay {

/// Columns of the file in order; docs/csv.md documents each.
std::vector<std::string> comparison_columns();

/// Writes one row for each trial of either run. Throws std::system_error.
void write_comparison_csv(OutputFile& file, const Comparison& comparison);

}  // namespace assay
