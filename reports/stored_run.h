#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "harness/record.h"

namespace assay {

/// What run.json of a run directory says of the run as a whole.
struct StoredRun {
  std::filesystem::path directory;
  std::string run_id;
  std::string host;
  std::string started_at;  // UTC, ISO 8601
  double started_s = 0;    // the same since 1970
  std::string git_revision;
  std::string build_id;
  bool ended = false;  // it goes on, or was killed
};

/// The run directories that the paths name, each once: a run directory itself (it has a run.json),
/// or those directly in a folder of them. What else lies in such a folder is passed over. Throws
/// UsageError for a path that is neither.
std::vector<std::filesystem::path> find_run_directories(
    std::span<const std::filesystem::path> paths);

/// Throws UsageError that names the file where run.json is missing, malformed or incomplete.
StoredRun read_stored_run(const std::filesystem::path& directory);

/// The rows of its results.csv. A last row that is torn is an error in a run that ended, and passed
/// over in one that did not. Throws UsageError that names the file.
std::vector<Record> read_stored_results(const StoredRun& run);

}  // namespace assay
