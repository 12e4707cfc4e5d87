#include "session/limits/measure_limits.h"

#include <algorithm>
#include <set>
#include <utility>

#include "harness/measure/demand.h"
#include "harness/measure/theoretical.h"
#include "session/machine/room_on.h"
#include "suites/limit_cases.h"

namespace assay {
namespace {

bool has_figure(std::span<const Limit> measured, const DeviceInfo& device, const std::string& id) {
  return std::ranges::any_of(measured, [&](const Limit& limit) {
    return limit.device == device.device && limit.case_id == id && limit.value;
  });
}

void add(const DeviceInfo& device, const BackendTraits& backend, const std::set<LimitKind>* wanted,
         std::span<const Limit> measured, LimitPlan& plan) {
  const auto id = parse_device_id(device.device);
  if (!id) return;
  for (LimitCase& one : limit_cases(backend, room_on(device))) {
    const bool is_function = one.limit.resource == Resource::function;
    if (wanted != nullptr ? !wanted->contains(one.limit) : is_function) continue;
    if (has_figure(measured, device, one.test.id())) continue;
    plan.trials.push_back(
        {.test = std::move(one.test), .lane = {*id}, .timing = std::string(batch_timing)});
    plan.limits.push_back(one.limit);
  }
}

/// Fills in the rate, or the time of a launch.
void fill_value(LimitKind kind, const Record& record, Limit& limit) {
  if (!record.time_median_s) return;
  limit.unit = unit_of(kind);
  const auto rate = rate_kind(kind);
  if (!rate) {
    limit.value = record.time_median_s;
    limit.ci_low = record.time_ci_low_s;
    limit.ci_high = record.time_ci_high_s;
    return;
  }
  const double amount = (*rate == RateKind::arithmetic ? record.flops : record.bytes).value_or(0);
  limit.value = amount / *record.time_median_s;
  if (!record.time_ci_low_s || !record.time_ci_high_s) return;
  limit.ci_low = amount / *record.time_ci_high_s;
  limit.ci_high = amount / *record.time_ci_low_s;
}

Limit limit_of(LimitKind kind, const Record& record, const DeviceInfo* device) {
  Limit limit{.device = record.device, .limit = kind, .status = record.status};
  limit.reason = record.reason;
  limit.case_id = record.case_id;
  limit.implementation = record.implementation;
  limit.launched_by = record.launched_by;
  limit.samples = record.samples;
  limit.stop_reason = record.stop_reason;
  limit.noise = record.noise;
  limit.clock_hz = record.clock_hz;
  limit.throttled = record.throttled;
  limit.contended = record.contended;
  limit.device_uuid = record.device_uuid;
  limit.started_at = record.started_at;
  fill_value(kind, record, limit);
  if (device != nullptr) limit.theoretical = measure::theoretical(*device, kind);
  return limit;
}

/// Turns records into limits.
class LimitSink final : public Sink {
 public:
  LimitSink(const LimitPlan& plan, const RunInfo& run, const LimitIsMeasured& measured)
      : plan_(plan), run_(run), measured_(measured) {}

  void result(const Result& result) override {
    const Record& record = result.record;
    const auto device = std::ranges::find(run_.devices, record.device, &DeviceInfo::device);
    for (std::size_t i = 0; i < plan_.trials.size(); ++i) {
      const PlannedTrial& trial = plan_.trials[i];
      if (trial.test.id() != record.case_id || lane_text(trial) != record.device) continue;
      measured_(
          limit_of(plan_.limits[i], record, device == run_.devices.end() ? nullptr : &*device),
          record);
    }
  }

 private:
  const LimitPlan& plan_;
  const RunInfo& run_;
  const LimitIsMeasured& measured_;
};

}  // namespace

LimitPlan plan_limits(std::span<const DeviceInfo> devices,
                      std::span<const BackendTraits> backends) {
  LimitPlan plan;
  for (const DeviceInfo& device : devices) {
    add(device, traits_of(backends, device.backend), nullptr, {}, plan);
  }
  return plan;
}

LimitPlan plan_limits(std::span<const DeviceInfo> devices, std::span<const BackendTraits> backends,
                      const LimitNeeds& needs) {
  LimitPlan plan;
  for (const DeviceInfo& device : devices) {
    if (!device.stand_in.empty()) continue;  // its figures are not a machine's
    std::set<LimitKind> wanted;
    for (const PlannedTrial& trial : needs.trials) {
      const bool is_timed = !trial.timing.empty() && trial.skip_reason.empty();
      if (!is_timed || to_text(trial.lane.front()) != device.device) continue;
      for (const measure::Demand& demand :
           measure::demands(trial.test.op, device.last_level_cache_bytes)) {
        const bool is_function = demand.limit.resource == Resource::function;
        if (needs.own_kernels || !is_function) wanted.insert(demand.limit);
      }
    }
    add(device, traits_of(backends, device.backend), &wanted, needs.measured, plan);
  }
  return plan;
}

PlanEnd measure_limits(const LimitPlan& plan, const RunInfo& run, SupervisorOptions options,
                       const LimitIsMeasured& measured) {
  LimitSink sink(plan, run, measured);
  Sink* const sinks[] = {&sink};
  Supervisor supervisor(std::move(options), run, sinks);
  return supervisor.execute(plan.trials);
}

}  // namespace assay
