#pragma once

#include <memory>

#include "kernels/device/communicator.h"

namespace assay::cpu {

/// Connects one rank in each process of the bootstrap, whose library reduces. The bootstrap must
/// outlive the result. Throws DeviceError(unsupported) if it has no such library.
std::unique_ptr<Communicator> connect_processes(Bootstrap& bootstrap);

}  // namespace assay::cpu
