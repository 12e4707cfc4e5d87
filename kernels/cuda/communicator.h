#pragma once

#include <memory>
#include <span>

#include "kernels/cuda/communicator_cache.h"
#include "kernels/cuda/nccl_ranks.h"
#include "kernels/device/communicator.h"

namespace assay::cuda {

/// One rank on each of the GPUs of this process, and as many in each other process of the
/// bootstrap, which all call it. Ranks of one process are taken from the cache. Throws DeviceError:
/// `unsupported` where NCCL is missing.
std::unique_ptr<Communicator> connect_nccl(std::span<Device* const> devices, Bootstrap& bootstrap,
                                           CommunicatorCache<NcclRanks>& cache);

}  // namespace assay::cuda
