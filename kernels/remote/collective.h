#pragma once

#include <memory>
#include <vector>

#include "kernels/device/backend.h"
#include "kernels/device/process_group.h"

namespace assay::remote {

/// Connects this process with the other `members` of the job by the backend. Each member
/// contributes its device.
std::unique_ptr<Communicator> connect(ProcessGroup& group, Backend& backend, Device& device,
                                      std::vector<int> members);

}  // namespace assay::remote
