#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/plan/protocol.h"
#include "kernels/device/backends.h"
#include "kernels/sim/fault.h"

// The one place that knows the backends of the program.
namespace assay {

/// Returns the CPU and the modules that are found: the devices of one process, which a rank
/// contributes to its job.
Backends own_backends();

/// Returns own_backends(), `sim_devices` simulated devices, and the ranks of the job that started
/// this process. Must not move: the ranks' backend refers to the others.
std::unique_ptr<const Backends> all_backends(int sim_devices, std::vector<sim::Fault> faults);

/// Returns the backends that can be named: those of the machine, then those that this program knows
/// and that are not here.
std::vector<BackendTraits> known_backends(const protocol::Hello& machine);

std::vector<std::string> kinds_of(const std::vector<BackendTraits>& backends);

}  // namespace assay
