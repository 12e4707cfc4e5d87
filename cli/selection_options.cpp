#include "cli/selection_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include "cli/device_list.h"
#include "cli/exit_code.h"
#include "cli/growth.h"
#include "cli/kernels/kernel_process.h"
#include "cli/stderr_message.h"
#include "cli/this_launch.h"
#include "harness/execute/checks.h"
#include "harness/records/replay.h"
#include "harness/supervise/orphans.h"
#include "harness/supervise/supervisor.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/core/this_program.h"
#include "kernels/cpu/all_cores.h"
#include "kernels/cpu/openblas.h"
#include "kernels/numa/traits.h"
#include "kernels/sim/fault.h"
#include "kernels/sim/traits.h"

namespace assay::cli {

namespace {

const std::string group = "Selection";

bool runs_on_simulated(const Record& record) {
  return std::ranges::any_of(split_lane(record.device), [](const std::string& device) {
    const auto id = parse_device_id(device);
    return id && id->backend == sim::traits().kind;
  });
}

std::vector<DeviceInfo> infos_of(const SelectedTrials& selected) {
  std::vector<DeviceInfo> infos;
  for (const DeviceInfo& info : selected.machine.devices) {
    const auto is_it = [&](const DeviceId& id) { return to_text(id) == info.device; };
    if (std::ranges::any_of(selected.devices, is_it)) infos.push_back(info);
  }
  return infos;
}

}  // namespace

void add_selection_options(CLI::App& command, SelectionOptions& o) {
  command
      .add_option("--suite", o.cases.suites,
                  "suites: tensor_ops, linear, transfers, collectives, placement, limits")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group(group);
  command.add_option("--profile", o.cases.profile, "seeds, smoke, default, full or edges")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  command.add_option("--filter", o.cases.filter, "only cases whose id matches (searched)")
      ->type_name("REGEX")
      ->group(group);
  command.add_option("--case", o.cases.cases, "exactly this case, in a profile or not; repeatable")
      ->type_name("ID")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--cases", o.cases.case_file, "cases from a CSV: suite, op, dtype, parameters")
      ->type_name("FILE.csv")
      ->group(group);
  command
      .add_option("--axis", o.cases.axes, "other values for a parameter or for dtype; repeatable")
      ->type_name("NAME=V1,V2,...")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--shard", o.cases.shard, "the I-th of N parts, by a hash of the case id")
      ->type_name("I/N")
      ->group(group);
  add_device_options(command, o);
  for (const char* flag : {"--kernels", "--python", "--fresh-inputs"}) {
    add_trial_option(command, o, flag)->group("Kernels");
  }
}

void add_device_options(CLI::App& command, SelectionOptions& o) {
  command
      .add_option("--device", o.devices,
                  "all, cpu, numa (nodes of the host's memory), cuda, cuda:1, a UUID, "
                  "cuda:most-free, mpi (the ranks of a job), sim (default all: the CPU, each "
                  "visible GPU and each rank)")
      ->delimiter(',')
      ->type_name("LIST")
      ->group(group);
  command.add_option("--require", o.require, "exit 3 unless there are N such devices")
      ->delimiter(',')
      ->type_name("KIND[:N]")
      ->group(group);
  for (const char* flag : {"--sim-devices", "--sim-fault", "--seed", "--threads"}) {
    add_trial_option(command, o, flag)->group(group);
  }
  command.get_option("--seed")->capture_default_str();
}

CLI::Option* add_timing_option(CLI::App& command, SelectionOptions& o) {
  return command
      .add_option("--timing", o.timings,
                  "batch: launches back to back; cold: one at a time, each on empty caches, for "
                  "the latency of a copy; a trial each (default: batch)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({std::string(batch_timing), std::string(cold_timing)}))
      ->type_name("LIST");
}

void add_stand_ins_option(CLI::App& command, SelectionOptions& o) {
  command
      .add_flag("--stand-ins", o.stand_ins,
                "also simulated and emulated devices, to try things out: their times are no "
                "hardware's")
      ->group(group);
}

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

void add_timing_options(CLI::App& command, SelectionOptions& o) {
  CLI::Option* check_only =
      command.add_flag("--check-only", o.check_only, "verify and do not measure");
  add_timing_option(command, o)->excludes(check_only);
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
        "--sim-devices {}: no trial would use them; select them with --device sim, or beside "
        "others with --device all,sim",
        options.sim_devices));
  }
  if (!options.sim_faults.empty()) {
    throw UsageError(
        "--sim-fault: only simulated devices have faults: --sim-devices 1 --device sim");
  }
}

protocol::Hello probe_machine(const SelectionOptions& options) {
  check_kernels(options);
  if (options.kernels.empty()) return probe(worker_command(options));
  hide_memory();  // it will hold the records
  watch_orphans([](const std::string& told) { say("{}\n", told); });
  protocol::Hello machine = probe(worker_command(options), [&] {
    say("--kernels {}: not open after {} s; waiting for {} s at most\n", options.kernels, slow_s,
        opening_limit_s(options));
  });
  check_offers(machine, options);
  return machine;
}

void check_offers(const protocol::Hello& machine, const SelectionOptions& options) {
  if (machine.kernels_refused.empty()) return;
  throw UsageError(fmt::format("--kernels {}: {}", options.kernels, machine.kernels_refused));
}

namespace {

/// Leaves the trials for which the kernels of others are; each device runs those alone.
void keep_offered(SelectedTrials& selected) {
  const Offers& kernels = selected.machine.kernels;
  if (kernels.ops.empty()) return;
  const std::size_t left_out = std::erase_if(
      selected.plan, [&](const PlannedTrial& trial) { return !kernels.have(trial.test.op); });
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

SelectedTrials select_trials(const SelectionOptions& options) {
  return select_trials(options, [&] { return probe_machine(options); });
}

SelectedTrials select_trials(const SelectionOptions& options,
                             const std::function<protocol::Hello()>& machine) {
  // Checks the text first: no process is started for a typo.
  check_selection(options.cases);
  for (const std::string& fault : options.sim_faults) sim::parse_fault(fault);
  check_simulated(options);

  SelectedTrials selected;
  selected.machine = machine();
  check_requirements(options.require, selected.machine);
  selected.devices = resolve_devices(options.devices, selected.machine);
  if (!options.without_check.empty()) {
    parse_check(options.without_check);
    if (std::ranges::any_of(selected.devices,
                            [](const DeviceId& id) { return id.backend != sim::traits().kind; })) {
      throw UsageError("--without-check is only for simulated devices");
    }
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

namespace {

/// Lets the threads of a worker that only judges neither spin nor stay put. False where the user's
/// environment says something else.
bool share_cores(WorkerCommand& command) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("OMP_PROC_BIND") != nullptr) {
    return false;
  }
  std::erase_if(command.environment, [](const auto& set) { return set.first == "OMP_PROC_BIND"; });
  command.environment.emplace_back("OMP_PROC_BIND", "false");
  command.environment.emplace_back("OMP_WAIT_POLICY", "passive");
  return true;
}

}  // namespace

WorkerCommand worker_command(const SelectionOptions& options, double cap_s,
                             const std::filesystem::path& references) {
  const std::filesystem::path program = options.program.empty() ? this_program() : options.program;
  cpu::use_all_cores();  // or workers would inherit the one core of this thread
  WorkerCommand command;
  command.arguments = {program.string(),         "worker", "--parent",
                       std::to_string(getpid()), "--cap",  fmt::format("{}", cap_s)};
  const std::vector<std::string> of_trials = worker_words(options);
  command.arguments.insert(command.arguments.end(), of_trials.begin(), of_trials.end());
  if (!references.empty()) {
    command.arguments.insert(command.arguments.end(), {"--references", references.string()});
  }
  if (options.threads > 0) {
    command.environment.emplace_back("OMP_NUM_THREADS", std::to_string(options.threads));
  }
  // Threads that wander between cores are noise. A user's own setting stays.
  if (std::getenv("OMP_PROC_BIND") == nullptr) {
    command.environment.emplace_back("OMP_PROC_BIND", "true");
  }
  if (!options.kernels.empty() && share_cores(command)) {
    command.environment.emplace_back(judge_shares_name, "1");
  }
  if (const auto launch = this_launch()) {
    command.environment.emplace_back(command_hash_name, std::to_string(launch->command_hash));
  }
  // Keeps the thread count fixed: a change would alter the order of a sum, and its bits.
  command.environment.emplace_back("OMP_DYNAMIC", "false");
  if (const std::string core = cpu::better_openblas_core(); !core.empty()) {
    command.environment.emplace_back("OPENBLAS_CORETYPE", core);
  }
  // Where nothing is timed, tensors may lie on huge pages, whose first touch takes a quarter of the
  // time. A user's own setting stays.
  if (options.check_only && std::getenv("GLIBC_TUNABLES") == nullptr) {
    command.environment.emplace_back("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  }
  return command;
}

void share_cores_on(WorkerCommand& command, const std::vector<DeviceId>& lane) {
  const auto is_on_host = [](const DeviceId& id) {
    return id.backend == host_kind || id.backend == numa::traits().kind;
  };
  if (std::ranges::none_of(lane, is_on_host)) share_cores(command);
}

std::function<std::string(const Record&)> replay_flags(const SelectionOptions& options) {
  return [options](const Record& record) {
    std::vector<std::string> words = replay_words(options, runs_on_simulated(record));
    for (std::string& word : words) word = shell_word(word);
    return join(words, " ");
  };
}

}  // namespace assay::cli
