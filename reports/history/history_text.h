#pragma once

#include <string>

#include "reports/history/history.h"

namespace assay {

/// Returns the changes as a table, the newest first, then the entries without a value, and the
/// counts. `options` are those by which the changes were found.
std::string history_text(const History& history, const statistics::EDivisiveOptions& options);

}  // namespace assay
