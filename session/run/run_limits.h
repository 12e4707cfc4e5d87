#pragma once

#include "harness/measure/limit_book.h"
#include "harness/supervise/supervisor.h"
#include "session/run/job.h"

namespace assay {

/// Limits that a run's trials need, measured before the first of them.
struct RunLimits {
  measure::LimitBook book;
  bool is_wrong = false;  // a limit's launches gave a wrong result, so the device is suspect
};

/// Measures the limits that the timed trials of `job` need and its limits.csv lacks, and appends
/// them. Does nothing if the profile or the user wants none. Adds failures to the run's notes.
RunLimits measure_run_limits(Job& job, const SupervisorOptions& options);

/// Gives each timed trial of `job` the case of the limit that bounds it, to be timed in turns with
/// it.
void pair_with_limits(const measure::LimitBook& book, Job& job);

}  // namespace assay
