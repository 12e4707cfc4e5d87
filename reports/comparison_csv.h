#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/comparison.h"

namespace assay {

/// The columns of the file in order; docs/csv.md documents each.
std::vector<std::string> comparison_columns();

/// Writes one row for each trial of either run. `path` must not exist. Throws std::system_error.
void write_comparison_csv(const std::filesystem::path& path, const Comparison& comparison);

}  // namespace assay
