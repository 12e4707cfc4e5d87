#pragma once

#include <memory>

#include "kernels/device/backend.h"

namespace assay::numa {

/// Makes the backend of the nodes of memory, numa:0 and up; of none on a machine with one node. A
/// device works in a process that is bound to the node's processors, and takes all memory from it.
std::unique_ptr<Backend> make_backend();

}  // namespace assay::numa
