#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/page/sources.h"

namespace assay::page {

/// Returns a name for each run that tells it from the others: its product ("NVIDIA H100"), its
/// host, or its folder ("monday"), the first of these in which all runs differ; else "run 1". A
/// folder with the name that `assay run` gives tells only its time, so it does not count.
std::vector<std::string> names_of_runs(std::span<const RunSource> runs);

/// Returns the folder of "monday/results.csv".
std::string folder_of(const RunSource& run);

}  // namespace assay::page
