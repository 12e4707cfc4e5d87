#include "session/soak/soak_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "harness/execute/soak.h"
#include "harness/records/fields_text.h"
#include "kernels/core/status.h"
#include "kernels/sim/fault.h"
#include "reports/files/table_file.h"
#include "session/machine/room_on.h"
#include "session/plan/select_trials.h"
#include "session/process/exit_code.h"
#include "session/soak/duration.h"
#include "suites/soak_cases.h"

namespace assay {
namespace {

constexpr double default_interval_s = 10;

std::vector<Case> cases_for(const SoakOptions& options, const BackendTraits& backend,
                            const DeviceInfo& device) {
  const std::vector<std::string>& ids = options.selection.cases.cases;
  if (ids.empty()) return soak_cases(backend, room_on(device));
  std::vector<Case> cases;
  for (const std::string& id : ids) {
    Case test = parse_case_id(id);
    if (!can_soak(test.op)) {
      throw UsageError(
          fmt::format("--case {}: only products and copies of one device can soak, as "
                      "their results are exact",
                      id));
    }
    if (applies_to(test.op, backend)) cases.push_back(std::move(test));
  }
  return cases;
}

void plan_soak(SoakJob& job) {
  job.duration_s = parse_duration(job.options.duration);
  std::optional<double> interval_s;
  if (!job.options.interval.empty()) interval_s = parse_duration(job.options.interval);
  std::set<std::pair<std::string, std::int64_t>> done;
  for (const SoakRow& row : job.earlier) done.emplace(row.device, row.interval);
  for (const DeviceInfo& info : job.run.devices) {
    const DeviceId device = parse_device_id(info.device).value();
    const std::vector<Case> cases =
        cases_for(job.options, traits_of(job.backends, device.backend), info);
    if (cases.empty()) {
      throw AbsentDevice(
          fmt::format("no case can soak {}: choose some by --case", to_text(device)));
    }
    std::vector<PlannedTrial> all = soak_plan(device, cases, job.duration_s, interval_s);
    job.planned[to_text(device)] = std::ssize(all);
    job.run.planned += std::ssize(all);
    for (PlannedTrial& trial : all) {
      job.interval_s = std::max(job.interval_s, trial.soak_s);
      if (!done.contains({to_text(device), trial.repeat})) job.plan.push_back(std::move(trial));
    }
  }
}

/// Checks the text of the options: no process is started for a typo.
void check_text(const SoakOptions& options) {
  if (options.duration.empty()) throw UsageError("--for says how long: --for 8h");
  parse_duration(options.duration);
  if (!options.interval.empty()) parse_duration(options.interval);
  for (const std::string& id : options.selection.cases.cases) parse_case_id(id);
  for (const std::string& fault : options.selection.sim_faults) sim::parse_fault(fault);
  check_simulated(options.selection);
}

}  // namespace

std::vector<PlannedTrial> soak_plan(const DeviceId& device, const std::vector<Case>& cases,
                                    double duration_s, std::optional<double> interval_s) {
  const double turn_s = duration_s / static_cast<double>(cases.size());
  const double each_s = interval_s.value_or(std::min(default_interval_s, turn_s));
  constexpr double rounding = 1e-9;
  const auto count = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(duration_s / each_s - rounding)));
  std::vector<PlannedTrial> plan;
  for (std::int64_t i = 0; i < count; ++i) {
    const double begin_s = static_cast<double>(i) * each_s;
    plan.push_back({.test = cases[static_cast<std::size_t>(i) % cases.size()],
                    .lane = {device},
                    .timing = "",
                    .repeat = i + 1,
                    .skip_reason = "",
                    .soak_s = std::min(each_s, duration_s - begin_s)});
  }
  return plan;
}

SoakJob begin_soak(const SoakOptions& options) {
  check_text(options);
  SoakJob job{probe_run(options.selection)};
  job.options = options;
  plan_soak(job);
  return job;
}

SoakJob resume_soak(const SoakOptions& asked, const ParseSoak& parse) {
  const std::filesystem::path& directory = asked.resume;
  const std::filesystem::path csv = directory / "soak.csv";
  if (!std::filesystem::exists(csv)) {
    throw UsageError(fmt::format("--resume: '{}' has no soak.csv", directory.string()));
  }
  RunDirectoryLock lock(directory);  // first: later rows would be taken twice
  const StoredRun stored = read_stored_run(directory);
  check_same_build(stored);
  SoakOptions options = parse(stored.command_line);
  options.resume = asked.resume;
  options.quiet = asked.quiet;
  options.wait = asked.wait;
  check_text(options);
  const std::vector<DeviceCells> devices = read_stored_devices(directory);
  SoakJob job{resume_run(options.selection, stored, devices, probe_machine(options.selection))};
  job.directory_lock = std::move(lock);
  job.options = std::move(options);
  resumable_length(csv, field_names<SoakRow>());
  job.earlier = read_table_file<SoakRow>(csv, LastRow::maybe_torn);
  plan_soak(job);
  return job;
}

}  // namespace assay
