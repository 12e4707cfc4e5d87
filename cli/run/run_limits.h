#pragma once

#include "cli/run/job.h"
#include "harness/measure/limit_book.h"
#include "harness/supervise/supervisor.h"

namespace assay::cli {

/// Limits that a run's own trials need, measured before the first of them.
struct RunLimits {
  measure::LimitBook book;
  bool is_wrong = false;  // a limit's launches gave a wrong result: so may others on that device
};

/// Measures what the timed trials of `job` make demands on and its limits.csv does not hold yet,
/// and appends that. Nothing where the profile or the user wants none. Adds to the run's notes what
/// could not be measured.
RunLimits measure_run_limits(Job& job, const SupervisorOptions& options);

}  // namespace assay::cli
