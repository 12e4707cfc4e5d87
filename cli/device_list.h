#pragma once

#include <string>
#include <vector>

#include "harness/plan/protocol.h"
#include "kernels/device/device_id.h"

namespace assay::cli {

/// One item of `--device`, well formed but not yet sought on this machine.
struct DeviceRequest {
  enum class Kind { all, every, one, uuid, most_free } kind;
  std::string text;     // as given
  std::string backend;  // of every, one and most_free
  int index = 0;        // of one
};

/// "cuda" or "cuda:2" of `--require`: at least so many devices of that backend.
struct Requirement {
  std::string backend;
  int count = 1;
};

/// The kinds of devices that Assay knows, here or not.
const std::vector<std::string>& device_kinds();

/// Throw UsageError for a malformed item or a backend that Assay does not know.
std::vector<DeviceRequest> parse_device_list(const std::vector<std::string>& items);
std::vector<Requirement> parse_requirements(const std::vector<std::string>& items);

/// The devices asked for, each once, in the order asked. Throws AbsentDevice with the remedy.
std::vector<DeviceId> resolve_devices(const std::vector<DeviceRequest>& requests,
                                      const protocol::Hello& machine);

void check_requirements(const std::vector<Requirement>& requirements,
                        const protocol::Hello& machine);

/// Why there is no device of this backend, and what to do: "no CUDA module is installed ...".
std::string why_absent(const std::string& backend, const protocol::Hello& machine);

}  // namespace assay::cli
