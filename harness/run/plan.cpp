#include "harness/run/plan.h"

#include <algorithm>
#include <map>

namespace assay {
namespace {

bool share_device(std::span<const BackendTraits> backends, const std::string& kind) {
  const auto found = std::ranges::find(backends, kind, &BackendTraits::kind);
  return found != backends.end() && found->ranks_share_device;
}

PlannedTrial collective(const Case& test, const std::string& kind,
                        const std::vector<DeviceId>& devices, bool ranks_share) {
  const auto ranks = static_cast<std::size_t>(test.op.signature.ranks);
  PlannedTrial planned{.test = test, .lane = {devices.front()}};
  if (ranks_share) return planned;
  if (ranks <= devices.size()) {
    planned.lane.assign(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(ranks));
  } else {
    planned.skip_reason = "too few devices: " + std::to_string(ranks) + " ranks on " +
                          std::to_string(devices.size()) + " " + kind + " device(s)";
  }
  return planned;
}

}  // namespace

std::vector<PlannedTrial> make_plan(std::span<const Case> cases, std::span<const DeviceId> devices,
                                    std::span<const BackendTraits> backends, bool check_only) {
  std::vector<std::string> kinds;  // in the order of the devices
  std::map<std::string, std::vector<DeviceId>> by_kind;
  for (const DeviceId& device : devices) {
    if (!by_kind.contains(device.backend)) kinds.push_back(device.backend);
    by_kind[device.backend].push_back(device);
  }

  std::vector<PlannedTrial> plan;
  for (const std::string& kind : kinds) {
    const auto applies = [&](const Case& test) { return applies_to(*test.op.op, kind); };
    for (const DeviceId& device : by_kind[kind]) {
      for (const Case& test : cases) {
        if (!test.op.op->collective && applies(test)) {
          plan.push_back({.test = test, .lane = {device}});
        }
      }
    }
    for (const Case& test : cases) {
      if (test.op.op->collective && applies(test)) {
        plan.push_back(collective(test, kind, by_kind[kind], share_device(backends, kind)));
      }
    }
  }
  for (PlannedTrial& planned : plan)
    planned.timing = check_only || !planned.test.timed ? "" : "batch";
  return plan;
}

}  // namespace assay
