#pragma once

#include <string>
#include <vector>

#include "harness/plan/protocol.h"
#include "kernels/device/device_id.h"

namespace assay::cli {

/// The devices that the items of `--device` name, each once, in the order asked. Throws UsageError
/// for an item that is malformed or names a backend that nobody knows, and AbsentDevice, with the
/// remedy, for a device that is not here.
std::vector<DeviceId> resolve_devices(const std::vector<std::string>& items,
                                      const protocol::Hello& machine);

/// Whether the machine has the devices that the items of `--require` demand: "cuda", "cuda:2" (two
/// of them). Throws like resolve_devices.
void check_requirements(const std::vector<std::string>& items, const protocol::Hello& machine);

/// Why there is no device of this backend, and what to do: "no CUDA module is installed ...".
std::string why_absent(const BackendTraits& backend, const protocol::Hello& machine);

}  // namespace assay::cli
