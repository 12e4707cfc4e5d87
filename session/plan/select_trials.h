#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/plan/protocol.h"
#include "harness/supervise/standby.h"
#include "session/options/selection_options.h"

namespace assay {

/// Throws UsageError if a device is a stand-in, whose times are no hardware's, unless --stand-ins.
void check_stand_ins(const SelectionOptions& options, const std::vector<DeviceInfo>& devices);

/// Starts a worker of this selection, which has said hello. With kernels of others it has left.
/// Throws UsageError if the kernels of --kernels cannot be used.
std::shared_ptr<Standby> probe_machine(const SelectionOptions& options);
/// Throws UsageError if that machine refuses the kernels of others that it was to use.
void check_offers(const protocol::Hello& machine, const SelectionOptions& options);

/// Result of the options on this machine.
struct SelectedTrials {
  protocol::Hello machine;
  std::vector<DeviceId> devices;
  std::vector<PlannedTrial> plan;
  std::vector<std::string> notes;         // for a person, before the run begins
  std::shared_ptr<Standby> standby = {};  // the worker that listed the devices
};

/// Returns whether --device names simulated devices, which `all` leaves out.
bool selects_simulated(const SelectionOptions& options);
/// Throws UsageError if simulated devices or their faults are requested and --device names none of
/// them: no trial would use them.
void check_simulated(const SelectionOptions& options);

/// Probes the machine through a worker and plans. Throws UsageError (for wrong text before anything
/// is started) and AbsentDevice.
SelectedTrials select_trials(const SelectionOptions& options);
/// Overload with another way to probe the machine.
SelectedTrials select_trials(const SelectionOptions& options,
                             const std::function<protocol::Hello()>& machine);

}  // namespace assay
