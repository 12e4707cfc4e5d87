#pragma once

#include <memory>

#include "kernels/device/communicator.h"

namespace assay::cpu {

/// One rank in each of the bootstrap's processes, which reduce by its library. The bootstrap must
/// outlive the result. Throws DeviceError(unsupported) where it has none.
std::unique_ptr<Communicator> connect_processes(Bootstrap& bootstrap);

}  // namespace assay::cpu
