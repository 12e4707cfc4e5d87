#pragma once

#include <functional>
#include <span>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/records/limit.h"
#include "harness/records/run_info.h"
#include "harness/supervise/supervisor.h"

namespace assay {

/// One trial for each case of each limit.
struct LimitPlan {
  std::vector<PlannedTrial> trials;
  std::vector<LimitKind> limits;  // by trial
};

/// Plans all limits of these devices, which are of these backends, but those of functions: they say
/// less of a device than of its library.
LimitPlan plan_limits(std::span<const DeviceInfo> devices, std::span<const BackendTraits> backends);

/// Limits that a run needs.
struct LimitNeeds {
  std::span<const PlannedTrial> trials;
  std::span<const Limit> measured;  // those that already have a figure
  bool own_kernels = true;          // others' may evaluate a function faster
};

/// Plans the limits that the timed trials of a run need. Leaves out stand-ins for a device, and
/// cases that already have a figure.
LimitPlan plan_limits(std::span<const DeviceInfo> devices, std::span<const BackendTraits> backends,
                      const LimitNeeds& needs);

/// Time cap of the measurement of one limit.
inline constexpr double limit_cap_s = 1.0;

using LimitIsMeasured = std::function<void(const Limit&, const Record&)>;

/// Calls `measured` for each limit as its trial ends, whatever its result.
PlanEnd measure_limits(const LimitPlan& plan, const RunInfo& run, SupervisorOptions options,
                       const LimitIsMeasured& measured);

}  // namespace assay
