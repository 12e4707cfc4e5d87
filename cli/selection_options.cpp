#include "cli/selection_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <vector>

#include "cli/device_list.h"
#include "cli/exit_code.h"
#include "cli/run/mpi_job.h"
#include "harness/execute/checks.h"
#include "harness/records/replay.h"
#include "harness/supervise/supervisor.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/cpu/all_cores.h"
#include "kernels/cpu/openblas.h"
#include "kernels/sim/fault.h"
#include "kernels/sim/traits.h"

namespace assay::cli {

namespace {

const std::string group = "Selection";

/// Replaces CLI11's check, which takes -1, and numbers that are too large, for 2^64 - 1.
const CLI::Validator whole_number(
    [](const std::string& text) {
      std::uint64_t value = 0;
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, value);
      if (error == std::errc() && stop == end) return std::string();
      return fmt::format("must be a whole number from 0 to {}, not '{}'",
                         std::numeric_limits<std::uint64_t>::max(), text);
    },
    "");

bool runs_on_simulated(const Record& record) {
  return std::ranges::any_of(split_lane(record.device), [](const std::string& device) {
    const auto id = parse_device_id(device);
    return id && id->backend == sim::traits().kind;
  });
}

}  // namespace

void add_selection_options(CLI::App& command, SelectionOptions& o) {
  command
      .add_option("--suite", o.cases.suites,
                  "suites: tensor_ops, linear, transfers, allreduce, placement, limits")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group(group);
  command.add_option("--profile", o.cases.profile, "seeds, smoke, default or full")
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
}

void add_device_options(CLI::App& command, SelectionOptions& o) {
  command
      .add_option("--device", o.devices,
                  "all, cpu, cuda, cuda:1, a UUID, cuda:most-free, mpi (the ranks of a job), sim "
                  "(default all: the CPU, each visible GPU and each rank)")
      ->delimiter(',')
      ->type_name("LIST")
      ->group(group);
  command.add_option("--require", o.require, "exit 3 unless there are N such devices")
      ->delimiter(',')
      ->type_name("KIND[:N]")
      ->group(group);
  command.add_option("--sim-devices", o.sim_devices, "add N simulated devices, to try things out")
      ->check(CLI::Range(0, 64))
      ->type_name("N")
      ->group(group);
  command
      .add_option("--sim-fault", o.sim_faults,
                  fmt::format("KIND[,device=I][,op=NAME][,marker=FILE]: a fault of the simulated "
                              "devices: low_bit, segv, hang and {} others, which a wrong name "
                              "lists; repeatable",
                              sim::fault_names().size() - 3))
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--seed", o.seed, "seed of the inputs")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  command.add_option("--threads", o.threads, "threads of the CPU's kernels (default: all cores)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->group(group);
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

SelectedTrials select_trials(const SelectionOptions& options) {
  return select_trials(options, [&] { return probe(worker_command(options)); });
}

SelectedTrials select_trials(const SelectionOptions& options,
                             const std::function<protocol::Hello()>& probe_machine) {
  // Checks the text first: no process is started for a typo.
  const std::vector<Case> cases = select_cases(options.cases);
  for (const std::string& fault : options.sim_faults) sim::parse_fault(fault);
  check_simulated(options);

  SelectedTrials selected;
  selected.machine = probe_machine();
  check_requirements(options.require, selected.machine);
  selected.devices = resolve_devices(options.devices, selected.machine);
  if (!options.without_check.empty()) {
    parse_check(options.without_check);
    if (std::ranges::any_of(selected.devices,
                            [](const DeviceId& id) { return id.backend != sim::traits().kind; })) {
      throw UsageError("--without-check is only for simulated devices");
    }
  }
  const std::set<std::string> timings(options.timings.begin(), options.timings.end());
  selected.plan =
      make_plan(cases, selected.devices, selected.machine.backends,
                options.check_only ? std::vector<std::string>{}
                                   : std::vector<std::string>(timings.begin(), timings.end()));
  if (selected.plan.empty()) {
    throw AbsentDevice(
        fmt::format("none of the {} selected cases applies to the selected devices", cases.size()));
  }
  return selected;
}

WorkerCommand worker_command(const SelectionOptions& options, double cap_s,
                             const std::filesystem::path& references) {
  const std::filesystem::path program =
      options.program.empty() ? std::filesystem::read_symlink("/proc/self/exe") : options.program;
  cpu::use_all_cores();  // or workers would inherit the one core of this thread
  WorkerCommand command;
  command.arguments = {program.string(), "worker",
                       "--parent",       std::to_string(getpid()),
                       "--seed",         std::to_string(options.seed),
                       "--cap",          fmt::format("{}", cap_s),
                       "--sim-devices",  std::to_string(options.sim_devices)};
  if (!options.without_check.empty()) {
    command.arguments.insert(command.arguments.end(), {"--without-check", options.without_check});
  }
  if (options.strict) command.arguments.emplace_back("--strict");
  if (options.soak > 0) {
    command.arguments.insert(command.arguments.end(), {"--soak", std::to_string(options.soak)});
  }
  for (const std::string& fault : options.sim_faults) {
    command.arguments.insert(command.arguments.end(), {"--sim-fault", fault});
  }
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
  if (const auto launch = this_launch()) {
    command.environment.emplace_back(command_hash_name, std::to_string(launch->command_hash));
  }
  // Keeps the thread count fixed: a change would alter the order of a sum, and its bits.
  command.environment.emplace_back("OMP_DYNAMIC", "false");
  if (const std::string core = cpu::better_openblas_core(); !core.empty()) {
    command.environment.emplace_back("OPENBLAS_CORETYPE", core);
  }
  return command;
}

void share_cores(WorkerCommand& command, const std::vector<DeviceId>& lane) {
  if (std::ranges::find(lane, host_kind, &DeviceId::backend) != lane.end()) return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("OMP_PROC_BIND") != nullptr) return;
  std::erase_if(command.environment, [](const auto& set) { return set.first == "OMP_PROC_BIND"; });
  command.environment.emplace_back("OMP_PROC_BIND", "false");
  command.environment.emplace_back("OMP_WAIT_POLICY", "passive");
}

std::function<std::string(const Record&)> replay_flags(const SelectionOptions& options) {
  return [options](const Record& record) {
    std::vector<std::string> flags;
    if (options.threads > 0) flags.push_back(fmt::format("--threads {}", options.threads));
    if (runs_on_simulated(record)) {
      if (options.sim_devices > 0) {
        flags.push_back(fmt::format("--sim-devices {}", options.sim_devices));
      }
      for (const std::string& fault : options.sim_faults) {
        flags.push_back(fmt::format("--sim-fault {}", shell_word(fault)));
      }
    }
    if (options.strict) flags.emplace_back("--strict");
    if (options.soak > 0) flags.push_back(fmt::format("--soak {}", options.soak));
    return join(flags, " ");
  };
}

}  // namespace assay::cli
