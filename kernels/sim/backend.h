#pragma once

#include <memory>
#include <vector>

#include "kernels/device/backend.h"
#include "kernels/sim/fault.h"

namespace assay::sim {

/// `devices` simulated devices, sim:0 and up, with these faults. Ranks of a collective are devices,
/// as with GPUs.
std::unique_ptr<Backend> make_backend(int devices, std::vector<Fault> faults = {});

}  // namespace assay::sim
