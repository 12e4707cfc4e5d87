#pragma once

#include <optional>
#include <vector>

#include "cli/run/run_options.h"
#include "harness/plan/plan.h"
#include "harness/records/run_info.h"
#include "reports/files/csv_file.h"
#include "reports/files/run_directory.h"

namespace assay::cli {

/// A run that is about to begin, or to go on.
struct Job {
  RunOptions options;
  RunInfo run;
  std::vector<BackendTraits> backends;   // of this machine
  std::vector<std::string> known_kinds;  // of devices: those, and the ones that are not here
  Start start = Start::fresh;
  /// Held while the run's files are read and written.
  std::optional<RunDirectoryLock> directory_lock;
  std::vector<PlannedTrial> plan;  // what is still to be taken, repeats included
  std::vector<Record> earlier;     // the rows that stand already
};

/// Plans a run; its directory is not yet made. Throws UsageError and AbsentDevice.
Job begin_job(const RunOptions& options);

/// Reads the run that `options.resume` names: what its plan.csv has and its results.csv lacks, by
/// record key; of a trial that stays bad, the retries that it has left. Changes no file. Throws
/// UsageError where the directory is no run, is damaged, or was begun by another build or on other
/// devices, or where a run still writes to it, and AbsentDevice where one of its devices is not
/// here any more.
Job resume_job(const RunOptions& options);

}  // namespace assay::cli
