#pragma once

#include "harness/supervise/worker_process.h"
#include "kernels/device/launch_info.h"

// Runs `assay run` under a launcher such as mpirun: one of its processes plans, the others serve.
namespace assay {

/// Serves the device of a rank other than 0 until rank 0 releases it. `command` is that of rank 0's
/// workers; the rank takes its environment.
int serve_rank(const LaunchInfo& launch, WorkerCommand command);

/// Joins the job and releases the others; on rank 0, in its own process.
void let_ranks_go(const LaunchInfo& launch);
/// Starts that process after a run that did not use the others. Returns whether it succeeded.
bool release_ranks(WorkerCommand command);

}  // namespace assay
