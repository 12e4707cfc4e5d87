#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/trial_options.h"
#include "harness/plan/plan.h"
#include "harness/plan/protocol.h"
#include "harness/records/record.h"
#include "harness/supervise/worker_process.h"
#include "suites/select.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay::cli {

/// Options that choose trials and say how they run, the same for every subcommand.
struct SelectionOptions : TrialOptions {
  Selection cases;
  std::vector<std::string> devices{"all"};
  std::vector<std::string> require;
  bool check_only = false;
  bool stand_ins = false;  // take times of what stands for a device
  std::vector<std::string> timings{std::string(batch_timing)};
  /// The `assay` whose workers execute the trials; empty: this program.
  std::filesystem::path program;
};

void add_selection_options(CLI::App& command, SelectionOptions& options);
/// Adds those of them that choose devices, seed and threads: --device to --threads.
void add_device_options(CLI::App& command, SelectionOptions& options);
/// Adds --timing.
CLI::Option* add_timing_option(CLI::App& command, SelectionOptions& options);
/// Adds --stand-ins, for commands that only measure.
void add_stand_ins_option(CLI::App& command, SelectionOptions& options);
/// Throws UsageError if a device is a stand-in, whose times are no hardware's, unless --stand-ins.
void check_stand_ins(const SelectionOptions& options, const std::vector<DeviceInfo>& devices);
/// Adds --check-only and --timing.
void add_timing_options(CLI::App& command, SelectionOptions& options);

/// Starts a worker of this selection, and returns its hello. Throws UsageError if the kernels of
/// --kernels cannot be used.
protocol::Hello probe_machine(const SelectionOptions& options);
/// Throws UsageError if that machine refuses the kernels of others that it was to use.
void check_offers(const protocol::Hello& machine, const SelectionOptions& options);

/// Result of the options on this machine.
struct SelectedTrials {
  protocol::Hello machine;
  std::vector<DeviceId> devices;
  std::vector<PlannedTrial> plan;
  std::vector<std::string> notes;  // for a person, before the run begins
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

/// Command of the hidden subcommand of `options.program` that executes this selection's trials.
/// `references` is the folder in which workers share references; empty when they do not.
WorkerCommand worker_command(const SelectionOptions& options, double cap_s = 0,
                             const std::filesystem::path& references = {});

/// Adjusts the worker of a lane without the CPU: it needs the CPU's cores only to judge, so its
/// threads neither spin nor stay put. The user's environment takes precedence.
void share_cores_on(WorkerCommand& command, const std::vector<DeviceId>& lane);

/// Options beside case, device and seed that a replay of a record needs: "--threads 1", and for
/// simulated devices "--sim-devices 2".
std::function<std::string(const Record&)> replay_flags(const SelectionOptions& options);

}  // namespace assay::cli
