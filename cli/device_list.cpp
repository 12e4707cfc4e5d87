#include "cli/device_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/exit_code.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/device/backends.h"
#include "kernels/remote/backend.h"

namespace assay::cli {
namespace {

const std::vector<std::string> backends{"cpu", "cuda", "mpi", "sim"};

bool is_known(const std::string& backend) {
  return std::ranges::find(backends, backend) != backends.end();
}

DeviceRequest parse_item(const std::string& item) {
  using Kind = DeviceRequest::Kind;
  if (item == "all") return {Kind::all, item, ""};
  if (item.starts_with("GPU-") || item.starts_with("MIG-") || item.starts_with("SIM-")) {
    return {Kind::uuid, item, item.starts_with("SIM-") ? "sim" : "cuda"};
  }
  const std::string backend = item.substr(0, item.find(':'));
  if (!is_known(backend)) {
    std::vector<std::string> valid{"all"};
    valid.insert(valid.end(), backends.begin(), backends.end());
    throw UsageError("--device: " + unknown_name("device", item, valid));
  }
  if (item == backend) return {Kind::every, item, backend};
  if (item == backend + ":most-free") return {Kind::most_free, item, backend};
  const auto id = parse_device_id(item);
  if (!id) {
    throw UsageError(fmt::format("--device: '{}' is no device; valid: {}, {}:0, {}:most-free", item,
                                 backend, backend, backend));
  }
  return {Kind::one, item, backend, id->index};
}

std::vector<const DeviceInfo*> devices_of(const std::string& backend,
                                          const protocol::Hello& machine) {
  std::vector<const DeviceInfo*> found;
  for (const DeviceInfo& device : machine.devices) {
    if (device.backend == backend) found.push_back(&device);
  }
  return found;
}

std::vector<const DeviceInfo*> resolve(const DeviceRequest& request,
                                       const protocol::Hello& machine) {
  std::vector<const DeviceInfo*> candidates;
  if (request.kind == DeviceRequest::Kind::all) {
    // Simulated devices are never part of "all": nobody may take their figures for a machine's.
    for (const DeviceInfo& device : machine.devices) {
      if (device.backend != "sim") candidates.push_back(&device);
    }
    return candidates;
  }
  candidates = devices_of(request.backend, machine);
  switch (request.kind) {
    case DeviceRequest::Kind::one:
      std::erase_if(candidates, [&](const DeviceInfo* device) {
        return device->device != to_text(DeviceId{request.backend, request.index});
      });
      break;
    case DeviceRequest::Kind::uuid:
      std::erase_if(candidates, [&](const DeviceInfo* d) { return d->uuid != request.text; });
      break;
    case DeviceRequest::Kind::most_free: {
      const auto freest = std::ranges::max_element(candidates, {}, [](const DeviceInfo* device) {
        return device->memory_free_bytes.value_or(0);
      });
      if (freest != candidates.end()) candidates = {*freest};
      break;
    }
    default:
      break;
  }
  return candidates;
}

}  // namespace

const std::vector<std::string>& device_kinds() { return backends; }

std::vector<DeviceRequest> parse_device_list(const std::vector<std::string>& items) {
  std::vector<DeviceRequest> requests;
  for (const std::string& item : items) requests.push_back(parse_item(item));
  return requests;
}

std::vector<Requirement> parse_requirements(const std::vector<std::string>& items) {
  std::vector<Requirement> requirements;
  for (const std::string& item : items) {
    const std::size_t colon = item.find(':');
    Requirement requirement{item.substr(0, colon), 1};
    bool is_right = is_known(requirement.backend);
    if (colon != std::string::npos) {
      const char* end = item.data() + item.size();
      const auto parsed = std::from_chars(item.data() + colon + 1, end, requirement.count);
      is_right = is_right && parsed.ec == std::errc() && parsed.ptr == end && requirement.count > 0;
    }
    if (!is_right) {
      throw UsageError(fmt::format("--require '{}': expected one of {}, or KIND:N with N from 1",
                                   item, join(backends, ", ")));
    }
    requirements.push_back(requirement);
  }
  return requirements;
}

std::string why_absent(const std::string& backend, const protocol::Hello& machine) {
  if (backend == "sim") return "simulated devices must be asked for: --sim-devices N";
  if (backend == remote::kind)
    return "the ranks of a job are there when mpirun or srun starts assay";
  std::string why;
  for (const std::string& problem : machine.problems) {
    if (problem.find(backend) != std::string::npos) why += (why.empty() ? "" : "; ") + problem;
  }
  const bool has_backend =
      std::ranges::find(machine.backends, backend, &BackendTraits::kind) != machine.backends.end();
  if (why.empty() && !has_backend) {
    std::vector<std::string> folders;
    for (const auto& folder : module_folders()) folders.push_back(folder.string());
    why = fmt::format("this installation has no {} module (assay_{}.so sought in {})", backend,
                      backend, join(folders, ", "));
  }
  return why.empty() ? "'assay devices' lists what is here" : why;
}

std::vector<DeviceId> resolve_devices(const std::vector<DeviceRequest>& requests,
                                      const protocol::Hello& machine) {
  std::vector<DeviceId> devices;
  for (const DeviceRequest& request : requests) {
    const auto found = resolve(request, machine);
    if (found.empty()) {
      throw AbsentDevice(fmt::format("device '{}' is not here: {}", request.text,
                                     why_absent(request.backend, machine)));
    }
    for (const DeviceInfo* device : found) {
      const auto id = parse_device_id(device->device);
      if (!id) throw std::runtime_error("a backend calls its device '" + device->device + "'");
      if (std::ranges::find(devices, *id) == devices.end()) devices.push_back(*id);
    }
  }
  return devices;
}

void check_requirements(const std::vector<Requirement>& requirements,
                        const protocol::Hello& machine) {
  for (const Requirement& requirement : requirements) {
    const auto count = std::ssize(devices_of(requirement.backend, machine));
    if (count < requirement.count) {
      throw AbsentDevice(fmt::format("--require {}:{}: {} here: {}", requirement.backend,
                                     requirement.count, count,
                                     why_absent(requirement.backend, machine)));
    }
  }
}

}  // namespace assay::cli
