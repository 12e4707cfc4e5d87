#pragma once

#include <memory>
#include <string>

#include "kernels/device/communicator.h"

namespace assay::cpu {

/// Connects ranks, which are threads of this process, by Gloo over TCP on the loopback interface.
/// `dead_rank`, for a simulated fault, connects and then never takes part.
std::unique_ptr<Communicator> connect_gloo(int ranks, int dead_rank = -1);

/// "Gloo 0.5.0"
std::string gloo_version_text();

}  // namespace assay::cpu
