#include "session/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/files/begun_run.h"
#include "session/machine/backends.h"
#include "session/plan/select_trials.h"

namespace assay {
namespace {

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
  if (std::ssize(plan) < begun.run.planned) {
    throw UsageError("--resume: plan.csv has fewer trials than run.json says were planned");
  }
  return plan;
}

/// Rows of two libraries are not of one run.
void check_code_unchanged(const StoredRun& stored, const RunInfo& now) {
  const auto check = [&](const std::string& whose, std::string_view what, const std::string& then,
                         const std::string& is) {
    if (then == is) return;
    throw UsageError(
        fmt::format("--resume: {} have changed since the run began ({} {}, now {}): put them back "
                    "as they were, or start a new run",
                    whose, what, then, is));
  };
  const std::string kernels = "the kernels of " + stored.kernels.path.string();
  check(kernels, "CRC-32", stored.kernels.crc32, now.kernels.crc32);
  check(kernels, "name", stored.kernels_name, now.kernels_name);
  check("the ops of " + stored.own_ops.path.string(), "CRC-32", stored.own_ops.crc32,
        now.own_ops.crc32);
  check("the problems of " + stored.problem.path.string(), "CRC-32", stored.problem.crc32,
        now.problem.crc32);
}

using Key = std::tuple<std::string, std::string, std::string, std::int64_t>;

/// Refuses rows of another plan, which would count as rows of this one.
void check_planned(const BegunRun& begun) {
  std::set<Key> planned;
  for (const PlanRow& row : begun.plan) {
    planned.emplace(row.case_id, row.device, row.timing, row.repeat);
  }
  for (const Record& record : begun.records) {
    if (planned.contains({record.case_id, record.device, record.timing, record.repeat})) continue;
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

Job begin_job(const RunOptions& options) {
  SelectedTrials selected = select_trials(options.selection);
  Job job{live_run(options.selection, selected.machine, selected.devices)};
  job.standby = std::move(selected.standby);
  job.options = options;
  job.known_kinds = kinds_of(known_backends(selected.machine));
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

Job resume_job(const RunOptions& asked, const ParseRun& parse) {
  RunDirectoryLock lock(asked.resume);  // first: later rows would be taken twice
  BegunRun begun = read_begun_run(asked.resume);
  const StoredRun& stored = begun.run;
  check_same_build(stored);
  const RunOptions options_of_run = parse(stored.command_line);
  RunOptions options = options_of_run;
  options.resume = asked.resume;
  options.budget_s = 0;  // takes the trials that it left out
  options.quiet = asked.quiet;
  options.jsonl = asked.jsonl;
  options.wait = asked.wait;
  options.selection.kernels = stored.kernels.path;  // the run began elsewhere, perhaps
  options.selection.own_ops = stored.own_ops.path;
  options.selection.problem = stored.problem.path;

  const std::shared_ptr<Standby> standby = probe_machine(options.selection);
  const protocol::Hello& machine = standby->hello;
  Job job{resume_run(options.selection, stored, begun.devices, standby)};
  job.directory_lock = std::move(lock);
  job.options = std::move(options);
  const std::vector<PlannedTrial> plan = stored_plan(begun, options_of_run);
  check_planned(begun);
  check_code_unchanged(stored, job.run);
  job.known_kinds = kinds_of(known_backends(machine));
  job.run.expected = stored.expected;
  job.run.kernels = stored.kernels;
  job.run.own_ops = stored.own_ops;
  job.run.problem = stored.problem;
  job.run.kernels_name = stored.kernels_name;
  job.run.allow_flaky = job.options.allow_flaky;
  job.earlier = std::move(begun.records);
  job.plan = remaining(plan, job.earlier, job.options.retries);
  job.run.planned = std::ssize(plan);
  return job;
}

}  // namespace assay
