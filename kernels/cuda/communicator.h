#pragma once

#include <memory>
#include <span>

#include "kernels/base/communicator.h"

namespace assay::cuda {

/// One rank on each of the GPUs, all driven by this process. Throws DeviceError: `unsupported`
/// where NCCL is missing.
std::unique_ptr<Communicator> connect_nccl(std::span<Device* const> devices);

}  // namespace assay::cuda
