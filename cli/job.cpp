#include "cli/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "assay/version.h"
#include "cli/describe_run.h"
#include "cli/exit_code.h"
#include "harness/clock.h"
#include "harness/run/supervisor.h"
#include "kernels/base/names.h"
#include "kernels/base/status.h"
#include "reports/plan_csv.h"
#include "reports/results_reader.h"
#include "reports/stored_run.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

StoredRun read_begun_run(const fs::path& directory) {
  if (!fs::exists(directory / "run.json")) {
    throw UsageError(fmt::format("--resume: '{}' is not a run directory: it has no run.json",
                                 directory.string()));
  }
  return read_stored_run(directory);
}

std::vector<DeviceId> parse_lane(const std::string& text) {
  std::vector<DeviceId> lane;
  for (const std::string& device : split_lane(text)) {
    const auto id = parse_device_id(device);
    if (!id) throw UsageError(fmt::format("--resume: no device is called '{}'", device));
    lane.push_back(*id);
  }
  return lane;
}

std::vector<PlannedTrial> stored_plan(const fs::path& directory) {
  std::vector<PlannedTrial> plan;
  for (PlanRow& row : read_plan(directory / "plan.csv")) {
    plan.push_back({.test = parse_case_id(row.case_id),
                    .lane = parse_lane(row.device),
                    .timing = row.timing,
                    .repeat = row.repeat,
                    .skip_reason = std::move(row.skip_reason)});
  }
  if (plan.empty()) throw UsageError("--resume: the plan is empty");
  return plan;
}

/// The same machine as far as results depend on it: every device of the run, by name and UUID.
void check_devices(const std::vector<DeviceCells>& stored, const protocol::Hello& machine) {
  for (const DeviceCells& cells : stored) {
    const std::string& device = cells.at("device");
    const std::string& name = cells.at("name");
    if (!cells.contains("uuid")) {
      throw UsageError("--resume: devices.csv has no column 'uuid'");
    }
    const std::string& uuid = cells.at("uuid");
    const auto found = std::ranges::find(machine.devices, device, &DeviceInfo::device);
    if (found == machine.devices.end()) {
      throw AbsentDevice(fmt::format("--resume: {} ({}) is not here any more", device, name));
    }
    if (found->name != name || found->uuid != uuid) {
      throw UsageError(fmt::format("--resume: {} is now '{}' {}, the run began on '{}' {}", device,
                                   found->name, found->uuid, name, uuid));
    }
  }
}

using Key = std::tuple<std::string, std::string, std::string, std::int64_t>;

std::vector<PlannedTrial> remaining(const std::vector<PlannedTrial>& plan,
                                    const std::vector<Record>& earlier, int retries) {
  std::map<Key, const Record*> last;  // attempt of each trial that has a row
  for (const Record& record : earlier) {
    const Record*& held = last[{record.case_id, record.device, record.timing, record.repeat}];
    if (held == nullptr || held->attempt < record.attempt) held = &record;
  }
  std::vector<PlannedTrial> open;
  for (const PlannedTrial& trial : plan) {
    const auto found = last.find({trial.test.id(), lane_text(trial), trial.timing, trial.repeat});
    if (found == last.end()) {
      open.push_back(trial);
      continue;
    }
    const Record& row = *found->second;
    if (row.is_bad() && row.status != Status::flaky && row.attempt <= retries) {
      open.push_back(trial);
      open.back().attempt = row.attempt + 1;
    }
  }
  return open;
}

std::vector<std::string> one_driver_kinds(const protocol::Hello& machine) {
  std::vector<std::string> kinds;
  for (const BackendTraits& backend : machine.backends) {
    if (backend.has_one_driver) kinds.push_back(backend.kind);
  }
  return kinds;
}

}  // namespace

Job begin_job(const RunOptions& options) {
  SelectedTrials selected = select_trials(options.selection);
  Job job{.options = options};
  job.one_driver_kinds = one_driver_kinds(selected.machine);
  job.run = describe_run(options.selection, selected.devices, selected.machine);
  job.run.allow_flaky = options.allow_flaky;
  for (int repeat = 1; repeat <= options.repeat; ++repeat) {
    for (PlannedTrial trial : selected.plan) {
      trial.repeat = repeat;
      job.plan.push_back(std::move(trial));
    }
  }
  job.run.planned = std::ssize(job.plan);
  return job;
}

Job resume_job(const RunOptions& options) {
  const fs::path& directory = options.resume;
  const StoredRun stored = read_begun_run(directory);
  Job job{.start = Start::resumed};
  job.directory_lock.emplace(directory);  // first: rows that come later would be taken twice
  if (stored.build_id != version::build_id) {
    throw UsageError(fmt::format("--resume: '{}' was begun by build '{}', this is '{}'",
                                 directory.string(), stored.build_id, version::build_id));
  }
  job.options = parse_run_options(stored.command_line);
  const std::vector<DeviceCells> stored_devices = read_stored_devices(directory);
  std::vector<DeviceId> devices;
  for (const DeviceCells& cells : stored_devices) {
    devices.push_back(parse_lane(cells.at("device")).front());
  }
  const RunOptions options_of_run = job.options;
  job.options.resume = options.resume;
  job.options.budget_s = 0;    // what it left out is now to be completed
  job.options.duration_s = 0;  // the plan is its first round
  job.options.quiet = options.quiet;
  job.options.jsonl = options.jsonl;
  job.options.wait = options.wait;

  const protocol::Hello machine = probe(worker_command(job.options.selection));
  check_devices(stored_devices, machine);
  job.one_driver_kinds = one_driver_kinds(machine);
  job.run = describe_run(job.options.selection, devices, machine);
  job.run.run_id = stored.run_id;
  job.run.started_at = stored.started_at;
  job.run.resumed_at = stored.resumed_at;
  job.run.resumed_at.push_back(utc_now());
  job.run.command_line = stored.command_line;
  job.run.directory = directory;
  job.run.allow_flaky = job.options.allow_flaky;

  const std::vector<PlannedTrial> plan = stored_plan(directory);
  if (options_of_run.duration_s == 0 && std::ssize(plan) < stored.planned) {
    throw UsageError("--resume: plan.csv has fewer trials than run.json says were planned");
  }
  cut_torn_row(directory / "results.csv");
  job.earlier = read_results_file(directory / "results.csv");
  job.plan = remaining(plan, job.earlier, job.options.retries);
  job.run.planned = std::ssize(plan);
  return job;
}

}  // namespace assay::cli
