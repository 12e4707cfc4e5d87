#pragma once

#include "harness/plan/expected_failures.h"
#include "harness/supervise/supervisor.h"
#include "reports/text/outcomes.h"
#include "session/run/job.h"

namespace assay {

/// Adds the notes that a person should see beside the results of a run that has ended so. Trials
/// that a budget left out are not planned, unless it touched too little.
void add_notes(Job& job, PlanEnd end, const Outcomes& outcomes, const Supervisor& supervisor,
               const ExpectedFailures& expected);

}  // namespace assay
