#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

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

/// The options that choose trials, the same for every subcommand.
struct SelectionOptions {
  Selection cases;
  std::vector<std::string> devices{"all"};
  std::vector<std::string> require;
  int sim_devices = 0;
  std::vector<std::string> sim_faults;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores
  bool check_only = false;
  std::vector<std::string> timings{std::string(batch_timing)};
  bool strict = false;        // no declared deviation passes
  std::int64_t soak = 0;      // further launches of each trial
  std::string without_check;  // of simulated devices, for `assay selftest`: switched off
  /// The `assay` whose workers execute the trials; empty: this very program.
  std::filesystem::path program;
};

void add_selection_options(CLI::App& command, SelectionOptions& options);
/// Those of them that name devices, and what trials on them begin with: --device to --threads.
void add_device_options(CLI::App& command, SelectionOptions& options);
/// --timing.
CLI::Option* add_timing_option(CLI::App& command, SelectionOptions& options);
/// --check-only and --timing.
void add_timing_options(CLI::App& command, SelectionOptions& options);

/// What the options come to on this machine.
struct SelectedTrials {
  protocol::Hello machine;
  std::vector<DeviceId> devices;
  std::vector<PlannedTrial> plan;
};

/// Whether --device names simulated devices, which `all` leaves out.
bool selects_simulated(const SelectionOptions& options);
/// Throws UsageError where simulated devices, or faults of theirs, are asked for and --device names
/// none of them: they would be tested by nothing.
void check_simulated(const SelectionOptions& options);

/// Probes the machine through a worker and plans. Throws UsageError (before anything is started
/// where the text alone is wrong) and AbsentDevice.
SelectedTrials select_trials(const SelectionOptions& options);
/// The same, with another way to probe the machine.
SelectedTrials select_trials(const SelectionOptions& options,
                             const std::function<protocol::Hello()>& probe_machine);

/// The hidden subcommand that executes this selection's trials, of `options.program`.
/// `references` is the folder in which workers share references; empty when they do not.
WorkerCommand worker_command(const SelectionOptions& options, double cap_s = 0,
                             const std::filesystem::path& references = {});

/// For the worker of a lane without the CPU, beside others: it needs the CPU's cores only to judge,
/// so its threads neither spin nor stay put. What the user's environment says goes first.
void share_cores(WorkerCommand& command, const std::vector<DeviceId>& lane);

/// The options beside case, device and seed that a replay of a record needs: "--threads 1", and of
/// simulated devices "--sim-devices 2".
std::function<std::string(const Record&)> replay_flags(const SelectionOptions& options);

}  // namespace assay::cli
