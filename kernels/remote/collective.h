#pragma once

#include <memory>
#include <vector>

#include "kernels/base/backend.h"
#include "kernels/base/process_group.h"

namespace assay::remote {

/// Connects this process with the other `members` of the job, each with its device: on CPUs by the
/// job's own reduction, else as the backend does it, whose bootstrap the job is.
std::unique_ptr<Communicator> connect(ProcessGroup& job, Backend& backend, Device& device,
                                      std::vector<int> members);

}  // namespace assay::remote
