#pragma once

#include <string>
#include <vector>

#include "harness/plan/protocol.h"
#include "kernels/device/device_id.h"

namespace assay {

/// Returns the devices that the items of `--device` name, each once, in their order. Throws
/// UsageError for an item that is malformed or names an unknown backend, and AbsentDevice, with the
/// remedy, for a device that is not here.
std::vector<DeviceId> resolve_devices(const std::vector<std::string>& items,
                                      const protocol::Hello& machine);

/// Checks that the machine has the devices that the items of `--require` demand: "cuda", "cuda:2"
/// (two of them). Throws as resolve_devices does.
void check_requirements(const std::vector<std::string>& items, const protocol::Hello& machine);

/// Returns why there is no device of this backend, and the remedy: "no CUDA module is installed
/// ...".
std::string why_absent(const BackendTraits& backend, const protocol::Hello& machine);

}  // namespace assay
