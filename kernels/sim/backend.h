#pragma once

#include <memory>
#include <vector>

#include "kernels/device/backend.h"
#include "kernels/sim/fault.h"

namespace assay::sim {

/// Makes `devices` simulated devices, sim:0 and up, with these faults. As with GPUs, each rank of a
/// collective has its own device.
std::unique_ptr<Backend> make_backend(int devices, std::vector<Fault> faults = {});

}  // namespace assay::sim
