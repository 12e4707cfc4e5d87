#include "session/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/supervise/supervisor.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/core/version.h"
#include "reports/files/begun_run.h"
#include "session/life/describe_run.h"
#include "session/machine/backends.h"
#include "session/plan/select_trials.h"
#include "session/process/exit_code.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

std::vector<DeviceId> parse_lane(const std::string& text) {
  std::vector<DeviceId> lane;
  for (const std::string& device : split_lane(text)) {
    const auto id = parse_device_id(device);
    if (!id) throw UsageError(fmt::format("--resume: no device is called '{}'", device));
    lane.push_back(*id);
  }
  return lane;
}

/// Returns the trials of a stored plan; throws for one that this run cannot have.
std::vector<PlannedTrial> stored_plan(const BegunRun& begun, const RunOptions& options) {
  std::vector<PlannedTrial> plan;
  for (const PlanRow& row : begun.plan) {
    try {
      plan.push_back({.test = parse_case_id(row.case_id),
                      .lane = parse_lane(row.device),
                      .timing = row.timing,
                      .repeat = row.repeat,
                      .skip_reason = row.skip_reason});
      for (const std::string& device : split_lane(row.device)) {
        if (std::ranges::any_of(begun.devices, [&](const DeviceCells& cells) {
              return cells.at("device") == device;
            })) {
          continue;
        }
        throw UsageError(fmt::format("'{}' is no device of this run", device));
      }
      if (row.repeat > options.repeat) {
        throw UsageError(fmt::format("repeat {} of {}", row.repeat, options.repeat));
      }
    } catch (const UsageError& wrong) {
      throw UsageError(fmt::format("{}:{}: {}", (begun.run.directory / "plan.csv").string(),
                                   row.line, wrong.what()));
    }
  }
  if (plan.empty()) throw UsageError("--resume: the plan is empty");
  if (options.duration_s == 0 && std::ssize(plan) < begun.run.planned) {
    throw UsageError("--resume: plan.csv has fewer trials than run.json says were planned");
  }
  return plan;
}

/// Rows of two libraries are not of one run.
void check_kernels_unchanged(const StoredRun& stored, const RunInfo& now) {
  const auto check = [&](std::string_view what, const std::string& then, const std::string& is) {
    if (then == is) return;
    throw UsageError(fmt::format(
        "--resume: the kernels of {} have changed since the run began ({} {}, now {}): put them "
        "back as they were, or start a new run",
        stored.kernels.path.string(), what, then, is));
  };
  check("CRC-32", stored.kernels.crc32, now.kernels.crc32);
  check("name", stored.kernels_name, now.kernels_name);
}

using Key = std::tuple<std::string, std::string, std::string, std::int64_t>;

/// Refuses rows of another plan, which would count as rows of this one. With --duration the plan is
/// the first of many rounds.
void check_planned(const BegunRun& begun, bool has_rounds) {
  std::set<Key> planned;
  for (const PlanRow& row : begun.plan) {
    planned.emplace(row.case_id, row.device, row.timing, row.repeat);
  }
  for (const Record& record : begun.records) {
    const std::int64_t repeat = has_rounds ? 1 : record.repeat;
    if (planned.contains({record.case_id, record.device, record.timing, repeat})) continue;
    throw UsageError(
        fmt::format("--resume: results.csv has a row of {} on {} ({}, repeat {}), "
                    "which is not in plan.csv",
                    record.case_id, record.device,
                    record.timing.empty() ? "not timed" : record.timing, record.repeat));
  }
}

std::vector<PlannedTrial> remaining(const std::vector<PlannedTrial>& plan,
                                    const std::vector<Record>& earlier, int retries) {
  std::map<Key, const Record*> last;  // last attempt of each trial that has a row
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

}  // namespace

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
      throw AbsentDevice(fmt::format("--resume: {} ({}) is gone", device, name));
    }
    if (found->name != name || found->uuid != uuid) {
      throw UsageError(fmt::format("--resume: {} is now '{}' {}; the run began on '{}' {}", device,
                                   found->name, found->uuid, name, uuid));
    }
  }
}

Job begin_job(const RunOptions& options) {
  SelectedTrials selected = select_trials(options.selection);
  Job job{.options = options};
  job.backends = selected.machine.backends;
  job.known_kinds = kinds_of(known_backends(selected.machine));
  job.run = describe_run(options.selection, selected.devices, selected.machine);
  job.run.allow_flaky = options.allow_flaky;
  job.run.notes.insert(job.run.notes.end(), selected.notes.begin(), selected.notes.end());
  for (int repeat = 1; repeat <= options.repeat; ++repeat) {
    for (PlannedTrial trial : selected.plan) {
      trial.repeat = repeat;
      job.plan.push_back(std::move(trial));
    }
  }
  job.run.planned = std::ssize(job.plan);
  return job;
}

Job resume_job(const RunOptions& options, const ParseRun& parse) {
  const fs::path& directory = options.resume;
  Job job{.start = Start::resumed};
  job.directory_lock.emplace(directory);  // first: later rows would be taken twice
  BegunRun begun = read_begun_run(directory);
  const StoredRun& stored = begun.run;
  if (stored.build_id != version::build_id) {
    throw UsageError(fmt::format("--resume: '{}' was begun by build '{}', this is '{}'",
                                 directory.string(), stored.build_id, version::build_id));
  }
  job.options = parse(stored.command_line);
  std::vector<DeviceId> devices;
  for (const DeviceCells& cells : begun.devices) {
    devices.push_back(parse_lane(cells.at("device")).front());
  }
  const RunOptions options_of_run = job.options;
  job.options.resume = options.resume;
  job.options.budget_s = 0;    // takes the trials that it left out
  job.options.duration_s = 0;  // the plan is its first round
  job.options.quiet = options.quiet;
  job.options.jsonl = options.jsonl;
  job.options.wait = options.wait;
  job.options.selection.kernels = stored.kernels.path;  // the run began elsewhere, perhaps

  const protocol::Hello machine = probe_machine(job.options.selection);
  check_devices(begun.devices, machine);
  const std::vector<PlannedTrial> plan = stored_plan(begun, options_of_run);
  check_planned(begun, options_of_run.duration_s > 0);
  job.backends = machine.backends;
  job.known_kinds = kinds_of(known_backends(machine));
  job.run = describe_run(job.options.selection, devices, machine);
  check_kernels_unchanged(stored, job.run);
  go_on(job.run, stored);
  job.run.references_computed = stored.references_computed;
  job.run.references_shared = stored.references_shared;
  job.run.expected = stored.expected;
  job.run.kernels = stored.kernels;
  job.run.kernels_name = stored.kernels_name;
  job.run.directory = directory;
  job.run.allow_flaky = job.options.allow_flaky;

  job.earlier = std::move(begun.records);
  job.plan = remaining(plan, job.earlier, job.options.retries);
  job.run.planned = std::ssize(plan);
  return job;
}

}  // namespace assay::cli
