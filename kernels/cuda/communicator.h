#pragma once

#include <memory>
#include <span>

#include "kernels/cuda/communicator_cache.h"
#include "kernels/cuda/nccl_ranks.h"
#include "kernels/device/communicator.h"

namespace assay::cuda {

/// Connects one rank on each GPU of this process, and as many in each other process of the
/// bootstrap. All processes call it, and reuse what they have in their caches if all of it is
/// sound. Throws DeviceError(unsupported) without NCCL.
std::unique_ptr<Communicator> connect_nccl(std::span<Device* const> devices, Bootstrap& bootstrap,
                                           CommunicatorCache<NcclRanks>& cache);

}  // namespace assay::cuda
