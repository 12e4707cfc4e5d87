#pragma once

#include <string>
#include <vector>

#include "reports/libraries/libraries_report.h"

// The file of `assay libraries`; docs/libraries.md documents each column.
namespace assay {

/// One row for each run over all trials, then one for each op, dtype and run.
std::vector<std::string> libraries_columns();
std::string libraries_csv(const LibrariesFacts& facts);

}  // namespace assay
