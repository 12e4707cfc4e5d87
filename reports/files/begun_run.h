#pragma once

#include <filesystem>
#include <vector>

#include "reports/files/plan_csv.h"
#include "reports/files/stored_run.h"

namespace assay {

/// The files of a run that is to go on, whether it was killed, interrupted or ended.
struct BegunRun {
  StoredRun run;
  std::vector<DeviceCells> devices;
  std::vector<PlanRow> plan;
  std::vector<Record> records;  // its whole rows
};

/// Reads every file that resuming will write to, and changes none: a last row that is torn is all
/// that will be cut. Throws UsageError that names the file where the directory is not one of a run,
/// and where a file is a link, is damaged, or has other columns than this version writes.
BegunRun read_begun_run(const std::filesystem::path& directory);

}  // namespace assay
