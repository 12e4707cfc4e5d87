#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// One row of devices.csv: cells by column, those of later versions included.
using DeviceCells = std::map<std::string, std::string, std::less<>>;

/// What run.json and devices.csv say of a run that has ended.
struct EndedRun {
  std::filesystem::path directory;
  std::string started_at;
  std::string host;
  std::string version;
  std::string git_revision;
  std::string build_type;
  std::int64_t planned = 0;
  int exit_code = 0;
  std::vector<std::string> notes;
  /// What may be another in the next run and changes results or times: "git_revision", "seed",
  /// "OMP_NUM_THREADS", each as text.
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<DeviceCells> devices;
};

/// Throws UsageError, with the remedy, where this is no run directory, where its files are of a
/// newer schema, and where the run goes on, was killed or was interrupted.
EndedRun read_ended_run(const std::filesystem::path& directory);

}  // namespace assay
