#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/records/record.h"
#include "session/life/live_run.h"
#include "session/run/run_options.h"

namespace assay {

/// A run that is about to begin, or to go on.
struct Job : LiveRun {
  RunOptions options;
  std::vector<std::string> known_kinds;  // kinds of devices, present or not
  std::vector<PlannedTrial> plan;        // remaining trials, repeats included
  std::vector<Record> earlier;           // existing rows
};

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

}  // namespace assay
