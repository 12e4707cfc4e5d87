#include "session/plan/select_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/execute/checks.h"
#include "harness/supervise/orphans.h"
#include "harness/supervise/supervisor.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/ops/defined.h"
#include "kernels/sim/fault.h"
#include "kernels/sim/traits.h"
#include "session/console/stderr_message.h"
#include "session/kernels/kernel_process.h"
#include "session/kernels/own_ops.h"
#include "session/machine/device_list.h"
#include "session/machine/growth_for_devices.h"
#include "session/process/exit_code.h"
#include "session/process/this_launch.h"
#include "session/workers/worker_command.h"

namespace assay {
namespace {

std::vector<DeviceInfo> infos_of(const SelectedTrials& selected) {
  std::vector<DeviceInfo> infos;
  for (const DeviceInfo& info : selected.machine.devices) {
    const auto is_it = [&](const DeviceId& id) { return to_text(id) == info.device; };
    if (std::ranges::any_of(selected.devices, is_it)) infos.push_back(info);
  }
  return infos;
}

/// Leaves the trials for which the kernels of others are; each device runs those alone.
void keep_offered(SelectedTrials& selected) {
  const Offers& kernels = selected.machine.kernels;
  if (kernels.ops.empty()) {
    const auto lacking = std::ranges::count_if(selected.plan, [](const PlannedTrial& trial) {
      return is_defined(trial.test.op.op->name);
    });
    if (lacking > 0) {
      selected.notes.push_back(fmt::format(
          "{} trials of ops of your own have no kernels: name these by --kernels", lacking));
    }
    return;
  }
  const std::size_t left_out = std::erase_if(selected.plan, [&](const PlannedTrial& trial) {
    return !kernels.have(trial.test.op) && refusal_of(trial.test.op.op->name).empty();
  });
  if (left_out == 0) return;
  if (selected.plan.empty()) {
    std::vector<std::string> ops;
    for (const Offer& offer : kernels.ops) ops.push_back(offer.op);
    throw UsageError(fmt::format("{} has none of the selected ops and dtypes; it has {}",
                                 kernels.name, join(ops, ", ")));
  }
  selected.notes.push_back(fmt::format("{} trials of ops and dtypes that {} lacks are left out",
                                       left_out, kernels.name));
}

}  // namespace

void check_stand_ins(const SelectionOptions& options, const std::vector<DeviceInfo>& devices) {
  if (options.stand_ins) return;
  for (const DeviceInfo& device : devices) {
    if (device.stand_in.empty()) continue;
    throw UsageError(
        fmt::format("{} is {}, and its times are no hardware's: choose others by --device, or add "
                    "--stand-ins to try things out",
                    device.device, device.stand_in));
  }
}

bool selects_simulated(const SelectionOptions& options) {
  return std::ranges::any_of(options.devices, [](const std::string& item) {
    const BackendTraits& simulated = sim::traits();
    return item.substr(0, item.find(':')) == simulated.kind ||
           item.starts_with(simulated.uuid_prefixes.front());
  });
}

void check_simulated(const SelectionOptions& options) {
  if (selects_simulated(options)) return;
  if (options.sim_devices > 0) {
    throw UsageError(fmt::format(
        "--sim-devices {}: no trial would use them; select them with '--device sim', or beside "
        "others with '--device all,sim'",
        options.sim_devices));
  }
  if (!options.sim_faults.empty()) {
    throw UsageError(
        "--sim-fault: only simulated devices have faults: add '--sim-devices 1 --device sim'");
  }
}

std::shared_ptr<Standby> probe_machine(const SelectionOptions& options) {
  check_kernels(options);
  if (may_run_code_of_others(options)) hide_memory();  // it will hold the records
  define_own_ops(options);
  if (options.kernels.empty()) {
    std::shared_ptr<Standby> machine = start_standby(probing_command(options));
    check_offers(machine->hello, options);
    if (this_launch()) machine->release();  // the ranks of a job have workers of their own
    return machine;
  }
  watch_orphans([](const std::string& message) { say("{}\n", message); });
  std::shared_ptr<Standby> machine = start_standby(worker_command(options), [&] {
    say("--kernels {}: not open after {} s; waiting for {} s at most\n", options.kernels, slow_s,
        opening_limit_s(options));
  });
  check_offers(machine->hello, options);
  machine->release();  // whose kernels would stay in memory beside other workers'
  return machine;
}

void check_offers(const protocol::Hello& machine, const SelectionOptions& options) {
  if (machine.kernels_refused.empty()) return;
  if (options.kernels.empty()) throw UsageError(machine.kernels_refused);  // of ops alone
  throw UsageError(fmt::format("--kernels {}: {}", options.kernels, machine.kernels_refused));
}

SelectedTrials select_trials(const SelectionOptions& options) {
  std::shared_ptr<Standby> standby;
  SelectedTrials selected = select_trials(options, [&] {
    standby = probe_machine(options);
    return standby->hello;
  });
  selected.standby = std::move(standby);
  return selected;
}

SelectedTrials select_trials(const SelectionOptions& options,
                             const std::function<protocol::Hello()>& machine) {
  if (may_run_code_of_others(options)) hide_memory();
  define_own_ops(options);
  // Checks the text first: no process that opens devices is started for a typo.
  check_selection(options.cases);
  for (const std::string& fault : options.sim_faults) sim::parse_fault(fault);
  check_simulated(options);

  SelectedTrials selected;
  selected.machine = machine();
  check_requirements(options.require, selected.machine);
  selected.devices = resolve_devices(options.devices, selected.machine);
  if (options.checks.off() && std::ranges::any_of(selected.devices, [](const DeviceId& id) {
        return id.backend != sim::traits().kind;
      })) {
    throw UsageError("--without-check is only for simulated devices");
  }
  Selection for_devices = options.cases;
  for_devices.growth = growth_for(infos_of(selected), selected.machine.backends);
  const std::vector<Case> cases = select_cases(for_devices);
  const std::set<std::string> timings(options.timings.begin(), options.timings.end());
  selected.plan =
      make_plan(cases, selected.devices, selected.machine.backends,
                options.check_only ? std::vector<std::string>{}
                                   : std::vector<std::string>(timings.begin(), timings.end()));
  if (selected.plan.empty()) {
    throw AbsentDevice(
        fmt::format("none of the {} selected cases applies to the selected devices", cases.size()));
  }
  keep_offered(selected);
  return selected;
}

}  // namespace assay
