#pragma once

#include <optional>

#include "harness/supervise/worker_process.h"
#include "kernels/device/launch_info.h"

// What a launcher such as mpirun makes of `assay run`: one of its processes plans, the others
// serve.
namespace assay::cli {

/// In the environment of a worker: the hash of its parent's command line.
inline constexpr const char* command_hash_name = "ASSAY_COMMAND_HASH";

/// What the launcher says, with the hash of the command line. Nothing where there is none.
std::optional<LaunchInfo> this_launch();

/// What a process of a job does that is not rank 0: serves its device until rank 0 has had enough.
/// `command` is that of rank 0's workers, whose environment it takes.
int serve_rank(const LaunchInfo& launch, WorkerCommand command);

/// On rank 0, in a process of its own: joins the job and lets the others go.
void let_ranks_go(const LaunchInfo& launch);
/// Starts that process: after a run that asked nothing of the others. Whether it went well.
bool release_ranks(WorkerCommand command);

}  // namespace assay::cli
