#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <thread>

#include "cli/command.h"
#include "cli/run_flags.h"
#include "harness/plan/expected_failures.h"
#include "harness/records/replay.h"
#include "harness/supervise/supervisor.h"
#include "kernels/core/clock.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/ranks/traits.h"
#include "reports/files/checksum.h"
#include "reports/files/csv_file.h"
#include "reports/files/github.h"
#include "reports/files/jsonl.h"
#include "reports/files/plan_csv.h"
#include "reports/files/run_directory.h"
#include "reports/files/sinks.h"
#include "reports/harness_cost.h"
#include "reports/overview.h"
#include "reports/time_spent.h"
#include "session/console/say_verdict.h"
#include "session/console/stderr_message.h"
#include "session/machine/device_list.h"
#include "session/machine/lock_devices.h"
#include "session/process/exit_code.h"
#include "session/process/interrupt.h"
#include "session/process/this_launch.h"
#include "session/run/execution.h"
#include "session/run/job.h"
#include "session/run/progress.h"
#include "session/run/run_limits.h"
#include "session/workers/mpi_job.h"
#include "session/workers/reference_folder.h"
#include "session/workers/worker_command.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// Share of a run's time for second takes of disturbed trials.
constexpr double second_takes_share = 0.1;

/// Reads the list of known failures, and notes it in `run`: every session must use the same list.
ExpectedFailures read_expected(const Job& job, RunInfo& run) {
  if (job.options.expected.empty()) return {};
  const bool resumes = job.start == Start::resumed;
  const bool is_standard_input = job.options.expected == "-";
  // Made absolute: a run may be resumed from another directory.
  if (!resumes) {
    run.expected.path = is_standard_input ? job.options.expected
                                          : fs::absolute(job.options.expected).lexically_normal();
  }
  const std::string name = is_standard_input ? "standard input" : job.options.expected.string();
  std::string text;
  try {
    text = is_standard_input ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                             : read_text(run.expected.path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--expected: {}{}", error.what(),
                                 resumes ? ", which the run began with; put it back" : ""));
  }
  const std::string crc32 = crc32_text(text);
  if (resumes && crc32 != run.expected.crc32) {
    throw UsageError(fmt::format(
        "--resume: {} has changed since the run began (CRC-32 {}, now {}): put it back as it was, "
        "or start a new run with the new list",
        is_standard_input ? name : run.expected.path.string(), run.expected.crc32, crc32));
  }
  run.expected.crc32 = crc32;
  std::istringstream stream(text);
  return {stream, name, utc_now().substr(0, 10), job.known_kinds};
}

/// Reports patterns that match no case of any profile; those for cases left out are no mistake.
std::vector<std::string> patterns_without_case(const ExpectedFailures& expected, const Job& job) {
  std::vector<std::string> ids;
  for (const PlannedTrial& trial : job.plan) ids.push_back(trial.test.id());
  for (const Record& record : job.earlier) ids.push_back(record.case_id);
  if (expected.without_case(ids).empty()) return {};
  for (const Profile& profile : all_profiles()) {
    for (const Case& one : select_cases({.profile = std::string(profile.name)})) {
      ids.push_back(one.id());
    }
  }
  return expected.without_case(ids);
}

/// Makes the directory of a new run, with its plan, before anything runs.
void make_directory(Job& job) {
  if (job.options.out.empty()) {
    job.run.directory = make_default_run_directory(std::chrono::system_clock::now(), job.run.host);
    job.directory_lock.emplace(job.run.directory);
  } else {
    job.run.directory = job.options.out;
    bool took_over = false;
    job.directory_lock.emplace(claim_run_directory(job.run.directory, took_over));
    if (took_over) {
      say("'{}': a run was killed here before its first result; begun anew\n",
          job.run.directory.string());
    }
  }
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
  return job.options.duration_s > 0 || job.options.retries > 0 ||
         std::ranges::any_of(job.plan, [&](const PlannedTrial& trial) {
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

/// Says that a library has algorithms that were wrong: rows that did without them pass. Empty if
/// none has.
std::string wrong_algorithms_note(std::span<const Record> trials) {
  const auto has_any = [](const Record& trial) { return !trial.wrong_algorithms.empty(); };
  const auto first = std::ranges::find_if(trials, has_any);
  if (first == trials.end()) return {};
  return fmt::format(
      "a library's algorithms were wrong on exact data, in {} of {} rows "
      "(column wrong_algorithms); first in {} on {}: {}",
      std::ranges::count_if(trials, has_any), trials.size(), first->case_id, first->device,
      first->wrong_algorithms);
}

/// Adds the notes that a person should see beside the results.
void add_notes(RunInfo& run, const Job& job, PlanEnd end, const Outcomes& outcomes,
               const Supervisor& supervisor, const ExpectedFailures& expected) {
  const std::vector<std::string> of_failures = expected.notes(outcomes.trials());
  run.notes.insert(run.notes.end(), of_failures.begin(), of_failures.end());
  if (std::string note = wrong_algorithms_note(outcomes.trials()); !note.empty()) {
    run.notes.push_back(std::move(note));
  }
  const Tally tally = outcomes.tally();
  for (const auto& [cell, refusal] : tally.untested) {
    run.notes.push_back(fmt::format("untested: nothing ran of {}: {}", cell, refusal));
  }
  if (end == PlanEnd::failed_fast) run.notes.emplace_back("ended by --fail-fast");
  if (end == PlanEnd::enough) {
    const LeftOut left = left_out(job.plan, outcomes);
    std::string note = fmt::format("the budget of {} s left out {} of {} trials",
                                   job.options.budget_s, left.trials, run.planned);
    if (left.untouched.empty()) {
      note += "; every suite, op and dtype was touched";
      run.planned -= left.trials;  // the budget defines the selection
    } else {
      // Hundreds where the budget is short: the rows that are missing tell the rest.
      constexpr std::ptrdiff_t max_named = 8;
      const std::vector<std::string> all(left.untouched.begin(), left.untouched.end());
      const std::ptrdiff_t named = std::min(max_named, std::ssize(all));
      note += "; never touched: " +
              join(std::vector<std::string>(all.begin(), all.begin() + named), ", ");
      if (named < std::ssize(all)) note += fmt::format(" and {} more", std::ssize(all) - named);
    }
    run.notes.push_back(note);
  }
  const bool repeats = job.options.duration_s > 0 || job.options.repeat > 1;
  if (const std::string growth = supervisor.leak_monitor().text(); repeats && !growth.empty()) {
    run.notes.push_back(growth);
  }
  const bool told = std::ranges::any_of(
      outcomes.trials(), [](const Record& trial) { return trial.energy_per_launch_j.has_value(); });
  if (job.options.selection.energy && !told) {
    run.notes.emplace_back("no trial tells its joules: the column 'reason' says why");
  }
}

/// Prints the end of the run; its first `said` notes were printed when it began.
void print_end(const RunInfo& run, const Outcomes& outcomes, std::size_t said, bool quiet) {
  const Tally tally = outcomes.tally();
  if (run.interrupted) {
    say("interrupted by signal {}: {} of {} trials have rows; complete it: assay run --resume {}\n",
        interrupting_signal(), tally.finished, run.planned, run.directory.string());
  }
  if (!quiet) say_text("\n" + overview(outcomes.trials()) + "\n");
  for (std::size_t i = said; i < run.notes.size(); ++i) say("note: {}\n", run.notes[i]);
  if (!quiet) say("time: {}\n", time_spent(run));
  if (const std::string cost = harness_cost(outcomes.trials()); !quiet && !cost.empty()) {
    say("harness: {}\n", cost);
  }
  const RunVerdict verdict = run_verdict(run, tally);
  say_verdict(verdict.word, verdict.why);
  say("{}\n", (run.directory / "results.csv").string());
  if (!quiet) say("as a page: assay report {}\n", shell_word(run.directory.string()));
}

/// Closes this session of the run, which took `wall_s`, and adds its times to those of earlier
/// ones, whose phases sum to `earlier_s`. Neither contains the writing of the last reports.
void end_session(RunInfo& run, const Supervisor& supervisor, std::int64_t taken, double wall_s,
                 double earlier_s) {
  Session& session = run.sessions.back();
  session.ended_at = run.ended_at = utc_now();
  session.interrupted = run.interrupted;
  session.exit_code = run.exit_code;
  session.wall_s = wall_s;
  session.taken = taken;
  run.wall_s += wall_s;
  run.taken += taken;
  run.references_computed += supervisor.references().computed;
  run.references_shared += supervisor.references().shared;
  run.phases += supervisor.phases();
  // Parallel lanes may have worked for longer than the time that passed.
  run.phases.other += std::max(0.0, wall_s - (run.phases.total() - earlier_s));
}

/// Ends all sinks in the reverse order of their begin: run.json comes after all that may fail, as
/// it holds the exit code. A failure of one sink leaves out no other.
void end_all(const std::vector<Sink*>& sinks, RunInfo& run) {
  std::vector<std::string> failures;
  for (auto sink = sinks.rbegin(); sink != sinks.rend(); ++sink) {
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

int execute(const RunOptions& asked, bool resumes) {
  const double begin_s = steady_s();
  Job job = resumes ? resume_job(asked, parse_run_options) : begin_job(asked);
  const RunOptions& options = job.options;
  RunInfo& run = job.run;
  const Profile& profile = find_profile(options.selection.cases.profile);
  const ExpectedFailures expected = read_expected(job, run);
  for (std::string& note : patterns_without_case(expected, job)) {
    run.notes.push_back(std::move(note));
  }
  const double earlier_s = run.phases.total();
  catch_interrupts();  // nothing began before, so a signal ended the program
  for (const std::string& note : run.notes) say("note: {}\n", note);
  const std::size_t said = run.notes.size();
  const std::vector<DeviceLock> locks = lock_devices(run.devices, job.backends, options.wait);
  if (job.start == Start::fresh) make_directory(job);
  const ReferenceFolder references(run.directory, ".references", shares_references(job));

  Outcomes outcomes(job.earlier);
  const auto files = run_directory_sinks(run.directory, outcomes, job.start, job.earlier);
  Jsonl jsonl(stdout);
  Progress progress(outcomes, job.plan,
                    {.cap_s = profile.cap_s,
                     .second_takes_share = second_takes_share,
                     .quiet = options.quiet,
                     .duration_s = options.duration_s,
                     .attempts = 1 + options.retries});
  Taken taken;
  std::vector<Sink*> sinks{&outcomes, &taken};  // first: the others show its content
  for (const auto& file : files) sinks.push_back(file.get());
  if (options.jsonl) sinks.push_back(&jsonl);
  sinks.push_back(&progress);  // after the files: it shows only results on disk
  const auto github = github_report_if_there(outcomes);
  if (github) sinks.push_back(github.get());
  const double output_begin_s = steady_s();
  for (Sink* sink : sinks) sink->begin(run);
  run.phases.output += steady_s() - output_begin_s;

  Execution execution(job, profile.cap_s);
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  SupervisorOptions supervision{
      .worker = worker_command(options.selection, profile.cap_s, references.path()),
      .for_lane = share_cores_on,
      .backends = job.backends,
      .timeout_s = timeout_s(options),
      .seed = options.selection.seed,
      .retries = options.retries,
      .fail_fast = options.fail_fast,
      .lanes = options.lanes > 0 ? options.lanes : static_cast<int>(cores),
      .overlap_timings = options.overlap_timings,
      .replay_flags = replay_flags(options),
      .interrupted = interrupted,
      .enough = [&] { return execution.enough(); },
      .expected_failure = [&](const Record& failure) { return expected.accept(failure); }};
  const auto launch = this_launch();
  supervision.is_launched = launch.has_value();
  const RunLimits limits = measure_run_limits(job, supervision);
  pair_with_limits(limits.book, job);
  progress.start_clock();
  supervision.second_takes_share = second_takes_share;
  supervision.rate = [&](const PlannedTrial& trial, Result& result) {
    const auto device =
        std::ranges::find(run.devices, to_text(trial.lane.front()), &DeviceInfo::device);
    if (device == run.devices.end()) return;
    limits.book.rate(trial.test.op, *device, result.record);
    if (!result.record.time_median_s) result.samples.clear();
  };
  supervision.complete = [&](const PlannedTrial& trial, Record& record) {
    if (launch && trial.lane.front().backend == ranks::traits().kind) {
      record.replay = fmt::format("{} {} {}", launch->launcher == "srun" ? "srun -n" : "mpirun -np",
                                  launch->size, record.replay);
    }
  };
  Supervisor supervisor(std::move(supervision), run, sinks);
  const PlanEnd end = execution.run(supervisor);

  run.interrupted = end == PlanEnd::interrupted;
  add_notes(run, job, end, outcomes, supervisor, expected);
  const Tally tally = outcomes.tally();
  if (options.duration_s > 0) run.planned = std::max(run.planned, tally.finished);
  const bool completed = !run.interrupted && tally.finished >= run.planned;
  const std::string& shard = options.selection.cases.shard;
  const Part part = shard.empty() || shard.ends_with("/1") ? Part::whole : Part::shard;
  run.exit_code = exit_code_of(tally, completed, run.allow_flaky, part);
  if (!options.selection.without_check.empty()) {
    // Never green: passes were judged without that check.
    run.notes.push_back("the check " + options.selection.without_check + " was switched off");
    run.exit_code = std::max<int>(run.exit_code, wrong);
  }
  if (limits.is_wrong) run.exit_code = wrong;
  if (launch && !supervisor.drove_job() && !release_ranks(worker_command(options.selection))) {
    say("the other ranks of the job could not be released\n");
    run.exit_code = with_infrastructure_failure(run.exit_code);
  }
  end_session(run, supervisor, taken.count(), steady_s() - begin_s, earlier_s);
  end_all(sinks, run);
  print_end(run, outcomes, said, options.quiet);
  return run.exit_code;
}

}  // namespace

Command add_run(CLI::App& program) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* app = program.add_subcommand("run", "verify, measure, and write a run directory");
  app->footer(R"(Examples:
  assay run                                  the default profile on the CPU and every GPU
  assay run --profile smoke --device cpu     a minute's worth
  assay run --suite linear --axis dtype=bf16 --axis batch=1,64
  assay run --case linear/f32/batch=2,in=3,out=1,bias=1,act=none --seed 7
  assay run --check-only --require cuda:8    a gate: exit 3 with fewer than eight GPUs
  assay run --budget 300 --retries 2 --expected known.csv --wait    a gate on a shared runner
  assay run --resume assay-runs/TIME-HOST    complete a killed run)");
  add_run_options(*app, *options);
  return {app, [app, options] {
            if (const auto launch = this_launch(); launch && launch->rank > 0) {
              return serve_rank(*launch, worker_command(options->selection));
            }
            // True even if it is empty: a script's unset variable must not begin another run.
            const bool resumes = app->count("--resume") > 0;
            if (resumes) check_resume_options(*app);
            return execute(*options, resumes);
          }};
}

}  // namespace assay::cli
