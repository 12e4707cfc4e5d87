#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/plan/protocol.h"
#include "harness/records/run_info.h"
#include "reports/files/csv_file.h"
#include "reports/files/run_directory.h"
#include "reports/files/stored_run.h"
#include "session/run/run_options.h"

namespace assay::cli {

/// A run that is about to begin, or to go on.
struct Job {
  RunOptions options;
  RunInfo run;
  std::vector<BackendTraits> backends;   // backends of this machine
  std::vector<std::string> known_kinds;  // kinds of devices, present or not
  Start start = Start::fresh;
  /// Lock of the run's files while they are read and written.
  std::optional<RunDirectoryLock> directory_lock;
  std::vector<PlannedTrial> plan;  // remaining trials, repeats included
  std::vector<Record> earlier;     // existing rows
};

/// Checks that every device of a stored run is still here, by name and UUID. Throws UsageError and
/// AbsentDevice.
void check_devices(const std::vector<DeviceCells>& stored, const protocol::Hello& machine);

/// Plans a run; its directory is not yet made. Throws UsageError and AbsentDevice.
Job begin_job(const RunOptions& options);

/// Parses the command line of a stored run. Throws UsageError if this version does not understand
/// it.
using ParseRun = std::function<RunOptions(const std::vector<std::string>& command_line)>;

/// Reads the run that `options.resume` names. Its plan is the trials of plan.csv that results.csv
/// lacks, by record key, and the remaining retries of bad ones. Changes no file. Throws UsageError
/// if the directory is no run, is damaged, was begun by another build or on other devices, or if a
/// run still writes to it. Throws AbsentDevice if one of its devices is gone.
Job resume_job(const RunOptions& options, const ParseRun& parse);

}  // namespace assay::cli
