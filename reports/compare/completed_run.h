#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reports/files/stored_run.h"

namespace assay {

/// A run that has ended, and its devices.
struct EndedRun {
  StoredRun run;
  std::vector<DeviceCells> devices;
};

/// Throws UsageError, with the remedy, for a path that is no run directory, for files of a newer
/// schema, and for a run that goes on, was killed or was interrupted.
EndedRun read_ended_run(const std::filesystem::path& directory);

}  // namespace assay
