#pragma once

#include "harness/run/worker_process.h"
#include "kernels/base/process_group.h"

namespace assay::cli {

/// What a process of a job does that is not rank 0: serves its device until rank 0 has had enough.
int serve_rank(const LaunchInfo& launch);

/// On rank 0, in a process of its own: joins the job and lets the others go.
void let_ranks_go(const LaunchInfo& launch);
/// Starts that process: after a run that asked nothing of the others.
void release_ranks(WorkerCommand command);

}  // namespace assay::cli
