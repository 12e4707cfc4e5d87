#include "session/machine/device_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/text/si.h"
#include "session/machine/backends.h"
#include "session/process/exit_code.h"

namespace assay {
namespace {

/// One item of `--device`, well formed but not yet sought on this machine.
struct Request {
  enum class Kind { all, every, one, uuid, most_free } kind = Kind::all;
  std::string text;       // as given
  BackendTraits backend;  // unused for `all`
};

bool is_uuid_of(const BackendTraits& backend, const std::string& item) {
  return std::ranges::any_of(backend.uuid_prefixes,
                             [&](const std::string& prefix) { return item.starts_with(prefix); });
}

/// The backend whose kind begins the item: "torch:cuda" begins "torch:cuda:0".
std::vector<BackendTraits>::const_iterator backend_of(const std::string& item,
                                                      const std::vector<BackendTraits>& known) {
  return std::ranges::find_if(known, [&](const BackendTraits& backend) {
    return item == backend.kind || item.starts_with(backend.kind + ":");
  });
}

/// Refuses a device that no backend knows, with what was meant.
[[noreturn]] void refuse(const std::string& item, const std::vector<BackendTraits>& known) {
  const std::size_t colon = std::min(item.find(':'), item.size());
  std::string word = item.substr(0, colon);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const BackendTraits& backend : known) {
    if (word != backend.kind &&
        std::ranges::find(backend.other_names, word) == backend.other_names.end())
      continue;
    throw UsageError(fmt::format("--device: unknown device '{}'; did you mean '{}{}'?", item,
                                 backend.kind, item.substr(colon)));
  }
  std::vector<std::string> valid = kinds_of(known);
  valid.emplace_back("all");
  std::ranges::sort(valid);
  throw UsageError("--device: " + unknown_name("device", item, valid));
}

Request parse_item(const std::string& item, const std::vector<BackendTraits>& known) {
  using Kind = Request::Kind;
  if (item == "all") return {Kind::all, item, {}};
  const auto of_uuid = std::ranges::find_if(
      known, [&](const BackendTraits& backend) { return is_uuid_of(backend, item); });
  if (of_uuid != known.end()) return {Kind::uuid, item, *of_uuid};
  const auto backend = backend_of(item, known);
  if (backend == known.end()) refuse(item, known);
  const std::string& kind = backend->kind;
  if (item == kind) return {Kind::every, item, *backend};
  if (item == kind + ":most-free") return {Kind::most_free, item, *backend};
  if (!parse_device_id(item)) {
    throw UsageError(fmt::format("--device: '{}' is no device; valid: {}, {}:0, {}:most-free", item,
                                 kind, kind, kind));
  }
  return {Kind::one, item, *backend};
}

std::vector<const DeviceInfo*> devices_of(const std::string& kind, const protocol::Hello& machine) {
  std::vector<const DeviceInfo*> found;
  for (const DeviceInfo& device : machine.devices) {
    if (device.backend == kind) found.push_back(&device);
  }
  return found;
}

std::vector<const DeviceInfo*> resolve(const Request& request, const protocol::Hello& machine) {
  std::vector<const DeviceInfo*> candidates;
  if (request.kind == Request::Kind::all) {
    // "all" never includes simulated devices: their figures must not pass for a machine's.
    for (const DeviceInfo& device : machine.devices) {
      if (!traits_of(machine.backends, device.backend).only_on_request) {
        candidates.push_back(&device);
      }
    }
    return candidates;
  }
  candidates = devices_of(request.backend.kind, machine);
  switch (request.kind) {
    case Request::Kind::one: {
      const std::string device = to_text(parse_device_id(request.text).value());
      std::erase_if(candidates, [&](const DeviceInfo* d) { return d->device != device; });
      break;
    }
    case Request::Kind::uuid:
      std::erase_if(candidates, [&](const DeviceInfo* d) { return d->uuid != request.text; });
      break;
    case Request::Kind::most_free: {
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

/// Item of `--require`, "cuda" or "cuda:2": the least number of devices of that backend.
struct Requirement {
  BackendTraits backend;
  int count = 1;
};

/// "CUDA" for "cuda".
std::string spoken(std::string kind) {
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::toupper(c); });
  return kind;
}

Requirement parse_requirement(const std::string& item, const std::vector<BackendTraits>& known) {
  const auto backend = backend_of(item, known);
  bool is_right = backend != known.end();
  int count = 1;
  if (is_right && item != backend->kind) {
    const char* end = item.data() + item.size();
    const auto parsed = std::from_chars(item.data() + backend->kind.size() + 1, end, count);
    is_right = is_right && parsed.ec == std::errc() && parsed.ptr == end && count > 0;
  }
  if (!is_right) {
    throw UsageError(fmt::format("--require '{}': expected one of {}, or KIND:N with N from 1",
                                 item, join(kinds_of(known), ", ")));
  }
  return {*backend, count};
}

}  // namespace

std::string why_absent(const BackendTraits& backend, const protocol::Hello& machine) {
  if (!backend.when_absent.empty()) return backend.when_absent;
  std::string why;
  for (const BackendProblem& problem : machine.problems) {
    if (problem.backend == backend.kind) why += (why.empty() ? "" : "; ") + to_text(problem);
  }
  if (why.empty() && std::ranges::find(machine.backends, backend.kind, &BackendTraits::kind) ==
                         machine.backends.end()) {
    std::vector<std::string> folders;
    for (const auto& folder : module_folders()) folders.push_back(folder.string());
    why = fmt::format("this installation has no {} module (assay_{}.so sought in {})", backend.kind,
                      backend.kind, join(folders, ", "));
  }
  return why.empty() ? "'assay devices' lists what is here" : why;
}

std::vector<DeviceId> resolve_devices(const std::vector<std::string>& items,
                                      const protocol::Hello& machine) {
  const std::vector<BackendTraits> known = known_backends(machine);
  std::vector<Request> requests;  // all of them first: a typo is worse than an absent device
  for (const std::string& item : items) requests.push_back(parse_item(item, known));
  std::vector<DeviceId> devices;
  for (const Request& request : requests) {
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

void check_requirements(const std::vector<std::string>& items, const protocol::Hello& machine) {
  const std::vector<BackendTraits> known = known_backends(machine);
  std::vector<Requirement> requirements;
  for (const std::string& item : items) requirements.push_back(parse_requirement(item, known));
  for (const Requirement& requirement : requirements) {
    const auto count = std::ssize(devices_of(requirement.backend.kind, machine));
    if (count < requirement.count) {
      throw AbsentDevice(fmt::format(
          "--require {}:{} needs {}, found {}: {}", requirement.backend.kind, requirement.count,
          counted(requirement.count, fmt::format("{} device", spoken(requirement.backend.kind))),
          count, why_absent(requirement.backend, machine)));
    }
  }
}

}  // namespace assay
