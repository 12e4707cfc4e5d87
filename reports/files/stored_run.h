#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/records/record.h"
#include "harness/records/run_info.h"

namespace assay {

/// Content of run.json in a run directory.
struct StoredRun : RunInfo {
  double started_s = 0;  // `started_at` since 1970
  /// False if the run goes on or was killed.
  bool ended() const { return !ended_at.empty(); }
};

/// One row of devices.csv: cells by column, those of later versions included.
using DeviceCells = std::map<std::string, std::string, std::less<>>;

/// Returns the run directories that the paths name, each once: a run directory itself (it has a
/// run.json), or those directly in a folder. Other files in such a folder are ignored. Throws
/// UsageError for a path that is neither.
std::vector<std::filesystem::path> find_run_directories(
    std::span<const std::filesystem::path> paths);

/// Throws UsageError that names the file if run.json is missing, malformed or incomplete.
StoredRun read_stored_run(const std::filesystem::path& directory);

/// Reads the rows of its results.csv. A torn last row is an error in a run that ended, and skipped
/// in one that did not. Throws UsageError that names the file.
std::vector<Record> read_stored_results(const StoredRun& run);

/// Reads the rows of its devices.csv, each with `device`, `backend` and `name`. Throws UsageError
/// that names the file, also if it has none.
std::vector<DeviceCells> read_stored_devices(const std::filesystem::path& directory);

}  // namespace assay
