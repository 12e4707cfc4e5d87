#include "session/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/supervise/supervisor.h"
#include "kernels/core/clock.h"
#include "kernels/ranks/traits.h"
#include "reports/files/github.h"
#include "reports/files/jsonl.h"
#include "reports/files/plan_csv.h"
#include "reports/files/sinks.h"
#include "session/console/stderr_message.h"
#include "session/process/exit_code.h"
#include "session/process/this_launch.h"
#include "session/run/execution.h"
#include "session/run/known_failures.h"
#include "session/run/print_end.h"
#include "session/run/progress.h"
#include "session/run/run_limits.h"
#include "session/run/run_notes.h"
#include "session/workers/mpi_job.h"
#include "session/workers/reference_folder.h"
#include "session/workers/run_choices.h"
#include "session/workers/worker_command.h"

namespace assay {
namespace {

/// Share of a run's time for second takes of disturbed trials.
constexpr double second_takes_share = 0.1;

/// Writes the plan of a new run, before anything runs.
void write_plan_of(const Job& job) {
  std::vector<PlanRow> rows;
  for (const PlannedTrial& trial : job.plan) {
    PlanRow& row = rows.emplace_back();
    row.case_id = trial.test.id();
    row.device = lane_text(trial);
    row.timing = trial.timing;
    row.repeat = trial.repeat;
    row.skip_reason = trial.skip_reason;
  }
  write_plan(job.run.directory / "plan.csv", rows);
}

/// Returns whether sharing references pays: some case is taken twice.
bool shares_references(const Job& job) {
  std::set<std::string> seen;
  return job.options.retries > 0 || std::ranges::any_of(job.plan, [&](const PlannedTrial& trial) {
           return !seen.insert(trial.test.id()).second;
         });
}

/// Counts the trials that ran, each attempt by itself; skips took no time.
class Taken final : public Sink {
 public:
  void result(const Result& result) override {
    if (result.record.status != Status::skip) ++count_;
  }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
};

/// Takes the results of a run: counts, files of its directory, and the console.
class RunSinks {
 public:
  RunSinks(const Job& job, double cap_s, KeptChoices& choices)
      : outcomes(job.earlier),
        progress(outcomes, job.plan,
                 {.cap_s = cap_s,
                  .second_takes_share = second_takes_share,
                  .quiet = job.options.quiet,
                  .attempts = 1 + job.options.retries}),
        files_(run_directory_sinks(job.run.directory, outcomes, job.start, job.earlier)),
        jsonl_(stdout),
        github_(github_report_if_there(outcomes)),
        all_{&outcomes, &taken} {  // first: the others show its content
    for (const auto& file : files_) all_.push_back(file.get());
    if (job.options.jsonl) all_.push_back(&jsonl_);
    all_.push_back(&progress);  // after the files: it shows only results on disk
    if (github_) all_.push_back(github_.get());
    all_.push_back(&choices);
  }

  std::span<Sink* const> all() const { return all_; }

  void begin(RunInfo& run) const {
    const double begin_s = steady_s();
    for (Sink* sink : all_) sink->begin(run);
    run.phases.output += steady_s() - begin_s;
  }

  /// Ends all in the reverse order of their begin: run.json comes after all that may fail, as it
  /// holds the exit code. A failure of one sink leaves out no other.
  void end(RunInfo& run) const {
    std::vector<std::string> failures;
    for (auto sink = all_.rbegin(); sink != all_.rend(); ++sink) {
      try {
        (*sink)->end(run);
      } catch (const std::exception& error) {
        failures.emplace_back(error.what());
        run.exit_code = with_infrastructure_failure(run.exit_code);
        run.sessions.back().exit_code = run.exit_code;
      }
    }
    if (failures.empty()) return;
    const std::size_t others = failures.size() - 1;  // usually with the same cause
    say("assay: {}{}\n", failures.front(),
        others == 0 ? "" : fmt::format("; {} more reports were not written", others));
  }

  Outcomes outcomes;
  Taken taken;
  Progress progress;

 private:
  std::vector<std::unique_ptr<Sink>> files_;
  Jsonl jsonl_;
  std::unique_ptr<Sink> github_;
  std::vector<Sink*> all_;
};

SupervisorOptions supervision_of(const Job& job, double cap_s,
                                 const std::filesystem::path& references) {
  const RunOptions& options = job.options;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  SupervisorOptions supervision = job.supervision(options.selection, cap_s, references);
  share_choices(job.run.directory, supervision.worker);
  supervision.timeout_s = timeout_s(options);
  supervision.retries = options.retries;
  supervision.fail_fast = options.fail_fast;
  // One more than cores: a worker waits while its result is written.
  supervision.lanes = options.lanes > 0 ? options.lanes : static_cast<int>(cores) + 1;
  supervision.overlap_timings = options.overlap_timings;
  supervision.replay_flags = replay_flags(options);
  return supervision;
}

/// Rates a result by the limits of its device. A time that they refute keeps no samples.
void rate(const measure::LimitBook& limits, const RunInfo& run, const PlannedTrial& trial,
          Result& result) {
  const auto device =
      std::ranges::find(run.devices, to_text(trial.lane.front()), &DeviceInfo::device);
  if (device == run.devices.end()) return;
  limits.rate(trial.test.op, *device, result.record);
  if (!result.record.time_median_s) result.samples.clear();
}

/// Lets the replay of a rank's trial begin with the launcher.
void add_launcher(const LaunchInfo& launch, const PlannedTrial& trial, Record& record) {
  if (trial.lane.front().backend != ranks::traits().kind) return;
  record.replay = fmt::format("{} {} {}", launch.launcher == "srun" ? "srun -n" : "mpirun -np",
                              launch.size, record.replay);
}

/// Sets the run's exit code, by its outcomes and its limits.
void set_exit_code(Job& job, const Tally& tally, const RunLimits& limits) {
  const RunOptions& options = job.options;
  RunInfo& run = job.run;
  const bool completed = !run.interrupted && tally.finished >= run.planned;
  const std::string& shard = options.selection.cases.shard;
  const Part part = shard.empty() || shard.ends_with("/1") ? Part::whole : Part::shard;
  run.exit_code = exit_code_of(tally, completed, run.allow_flaky, part);
  if (const auto off = options.selection.checks.off()) {
    // Never green: passes were judged without that check.
    run.notes.push_back(fmt::format("the check {} was switched off", name(*off)));
    run.exit_code = std::max<int>(run.exit_code, wrong);
  }
  if (limits.is_wrong) run.exit_code = wrong;
}

}  // namespace

int run(Job& job) {
  const RunOptions& options = job.options;
  RunInfo& run = job.run;
  const double cap_s = find_profile(options.selection.cases.profile).cap_s;
  const ExpectedFailures expected = read_expected(job);
  for (std::string& note : patterns_without_case(expected, job)) {
    run.notes.push_back(std::move(note));
  }
  KeptChoices choices(options.choices, job.start);
  job.begin(options.wait);
  const std::size_t said = run.notes.size();
  if (job.start == Start::fresh) {
    job.make_directory(options.out, "assay-runs", true);
    write_plan_of(job);
  }
  const ReferenceFolder references(run.directory, ".references", shares_references(job));
  RunSinks sinks(job, cap_s, choices);
  sinks.begin(run);

  Execution execution(job, cap_s, sinks.outcomes);
  const auto launch = this_launch();
  SupervisorOptions supervision = supervision_of(job, cap_s, references.path());
  supervision.enough = [&] { return execution.enough(); };
  supervision.expected_failure = [&](const Record& failure) { return expected.accept(failure); };
  supervision.is_launched = launch.has_value();
  const RunLimits limits = measure_run_limits(job, supervision);
  pair_with_limits(limits.book, job);
  sinks.progress.start_clock();
  supervision.second_takes_share = second_takes_share;
  supervision.rate = [&](const PlannedTrial& trial, Result& result) {
    rate(limits.book, run, trial, result);
  };
  if (launch) {
    supervision.complete = [&](const PlannedTrial& trial, Record& record) {
      add_launcher(*launch, trial, record);
    };
  }
  Supervisor supervisor(std::move(supervision), run, sinks.all());
  const PlanEnd end = execution.run(supervisor);

  run.interrupted = end == PlanEnd::interrupted;
  add_notes(job, end, sinks.outcomes, supervisor, expected);
  set_exit_code(job, sinks.outcomes.tally(), limits);
  if (launch && !supervisor.drove_job() && !release_ranks(worker_command(options.selection))) {
    say("the other ranks of the job could not be released\n");
    run.exit_code = with_infrastructure_failure(run.exit_code);
  }
  job.end(supervisor, sinks.taken.count());
  sinks.end(run);
  print_end(run, sinks.outcomes, said, options.quiet);
  return run.exit_code;
}

}  // namespace assay
