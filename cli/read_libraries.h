#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reports/compare/environment_differences.h"
#include "reports/libraries/libraries.h"

namespace assay::cli {

/// Runs of one machine that were asked the same, with kernels of their own.
struct StoredLibraries {
  std::vector<std::unique_ptr<StoredTrials>> trials;  // of each run
  std::vector<LibraryRun> runs;
  std::vector<std::string> directories;
  std::vector<std::vector<Difference>> differences;  // of each run from the first
};

/// Reads the runs at the same time, each once. Throws UsageError, with the remedy, for a run that
/// did not end or left trials out, and for runs of other hardware, seeds or selections.
StoredLibraries read_libraries(std::span<const std::filesystem::path> paths);

}  // namespace assay::cli
