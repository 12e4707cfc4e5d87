#pragma once

#include <filesystem>
#include <vector>

#include "reports/files/plan_csv.h"
#include "reports/files/stored_run.h"

namespace assay {

/// Files of a run that is to be resumed, whether it was killed, interrupted or ended.
struct BegunRun {
  StoredRun run;
  std::vector<DeviceCells> devices;
  std::vector<PlanRow> plan;
  std::vector<Record> records;  // its whole rows
};

/// Reads every file that resuming will write to, and changes none; resuming cuts only a torn last
/// row. Throws UsageError that names the file if the directory is not one of a run, and if a file
/// is a link, is damaged, or has other columns than this version writes.
BegunRun read_begun_run(const std::filesystem::path& directory);

}  // namespace assay
