#pragma once

#include <string>
#include <vector>

#include "reports/page/content.h"

namespace assay::page {

/// The facts of a run, for a block that opens: {title, word, facts, notes}.
Json facts_of_run(const Content& content, std::size_t run);

/// Runs beside each other: a row each with verdict and best figures; null for one run.
Json table_of_runs(const Content& content);

/// Leaves out of each text the words that all of them have; "–" if none is left.
void leave_out_common_words(std::vector<std::string>& texts);

/// Differences between the runs or devices beside each other; null without any.
Json table_of_differences(const Content& content);

}  // namespace assay::page
