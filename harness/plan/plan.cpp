#include "harness/plan/plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "harness/records/skip_category.h"
#include "kernels/ops/defined.h"

namespace assay {
namespace {

bool takes_all_together(const OpInstance& op) { return op.op->collective || op.op->multi_device; }

std::string too_few(const std::string& why) {
  return skip_reason(SkipCategory::too_few_devices, why);
}

PlannedTrial together(const Case& test, const std::string& kind,
                      const std::vector<DeviceId>& devices, bool ranks_share) {
  const bool spans = test.op.op->multi_device;
  const auto ranks =
      static_cast<std::size_t>(spans ? test.op.signature.devices : test.op.signature.ranks);
  PlannedTrial planned{.test = test, .lane = {devices.front()}};
  if (ranks_share) return planned;
  if (ranks <= devices.size()) {
    planned.lane.assign(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(ranks));
  } else {
    planned.skip_reason = too_few(std::to_string(ranks) + (spans ? " wanted of " : " ranks on ") +
                                  std::to_string(devices.size()) + " " + kind + " device(s)");
  }
  return planned;
}

/// Adds trials lane by lane: each lane has its own worker. A copy both ways takes each pair of
/// devices once. Pairs after the first one get the cases of each pair.
void add_peers(std::span<const Case> tests, const std::string& kind,
               const std::vector<DeviceId>& devices, std::vector<PlannedTrial>& plan) {
  bool is_first = true;
  const auto add = [&](const std::vector<DeviceId>& lane, const std::string& skip_reason) {
    const bool takes_all = std::exchange(is_first, false);
    for (const Case& test : tests) {
      if (!takes_all && !test.on_each_pair) continue;
      const bool is_the_same_again = test.op.signature.is_mirrored && lane.back() < lane.front();
      if (takes_all_together(test.op) || test.op.signature.devices != 2 || is_the_same_again)
        continue;
      plan.push_back({.test = test, .lane = lane, .skip_reason = skip_reason});
    }
  };
  if (devices.size() == 1)
    add(devices, too_few("a copy from one to another, on 1 " + kind + " device"));
  for (const DeviceId& from : devices) {
    for (const DeviceId& to : devices) {
      if (from != to) add({from, to}, "");
    }
  }
}

bool takes_one_device(const OpInstance& op) {
  return !takes_all_together(op) && op.signature.devices == 1;
}

}  // namespace

std::string lane_text(const PlannedTrial& trial) {
  if (takes_all_together(trial.test.op)) return to_text(trial.lane, "+");
  return to_text(trial.lane, trial.test.op.signature.is_mirrored ? "<>" : ">");
}

void identify(Record& record, const PlannedTrial& trial, std::uint64_t seed) {
  const OpInstance& op = trial.test.op;
  record.suite = trial.test.suite;
  record.case_id = trial.test.id();
  record.op = op.op->name;
  record.dtype = name(op.format);
  record.params = op.params.text(";");
  record.device = lane_text(trial);
  record.timing = trial.timing;
  record.attempt = trial.attempt;
  record.repeat = trial.repeat;
  record.seed = seed;
}

std::vector<PlannedTrial> make_plan(std::span<const Case> cases, std::span<const DeviceId> devices,
                                    std::span<const BackendTraits> backends,
                                    std::span<const std::string> timings) {
  std::vector<std::string> kinds;  // in the order of the devices
  std::map<std::string, std::vector<DeviceId>> by_kind;
  for (const DeviceId& device : devices) {
    if (!by_kind.contains(device.backend)) kinds.push_back(device.backend);
    by_kind[device.backend].push_back(device);
  }

  std::vector<PlannedTrial> plan;
  for (const std::string& kind : kinds) {
    const BackendTraits& backend = traits_of(backends, kind);
    std::vector<Case> applicable;
    std::ranges::copy_if(cases, std::back_inserter(applicable),
                         [&](const Case& test) { return applies_to(test.op, backend); });
    for (const DeviceId& device : by_kind[kind]) {
      for (const Case& test : applicable) {
        if (takes_one_device(test.op)) plan.push_back({.test = test, .lane = {device}});
      }
    }
    add_peers(applicable, kind, by_kind[kind], plan);
    for (const Case& test : applicable) {
      if (takes_all_together(test.op)) {
        plan.push_back(together(test, kind, by_kind[kind], backend.ranks_share_device));
      }
    }
  }
  for (PlannedTrial& planned : plan) {
    const std::string_view refusal = refusal_of(planned.test.op.op->name);
    if (!refusal.empty()) planned.skip_reason = skip_reason(SkipCategory::unsupported, refusal);
  }
  std::vector<PlannedTrial> timed;
  const std::vector<std::string> untimed{""};
  for (const PlannedTrial& planned : plan) {
    const bool is_timed = !timings.empty() && planned.test.timed;
    for (const std::string& timing : is_timed ? timings : std::span<const std::string>(untimed)) {
      timed.push_back(planned);
      timed.back().timing = timing;
    }
  }
  return timed;
}

}  // namespace assay
