#pragma once

#include <string>
#include <vector>

#include "reports/history/history.h"

namespace assay {

/// Returns one row for each run of each series, gaps and runs without a reference too.
/// docs/history.md documents each column.
std::vector<std::string> history_columns();
std::string history_csv(const History& history);

/// Returns one row for each change.
std::vector<std::string> history_changes_columns();
std::string history_changes_csv(const History& history);

}  // namespace assay
