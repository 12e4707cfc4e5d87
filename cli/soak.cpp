#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/soak_flags.h"
#include "harness/records/replay.h"
#include "harness/supervise/supervisor.h"
#include "kernels/core/clock.h"
#include "reports/files/devices_csv.h"
#include "reports/files/run_json.h"
#include "reports/si.h"
#include "reports/soak_report.h"
#include "session/console/say_verdict.h"
#include "session/console/status_line.h"
#include "session/console/stderr_message.h"
#include "session/machine/lock_devices.h"
#include "session/plan/estimate.h"
#include "session/process/exit_code.h"
#include "session/process/interrupt.h"
#include "session/soak/duration.h"
#include "session/soak/soak_job.h"
#include "session/workers/worker_command.h"

namespace assay::cli {
namespace {

/// Writes a row as each interval ends, keeps it, and shows the progress.
class SoakSink final : public Sink {
 public:
  SoakSink(SoakJob& job, const std::filesystem::path& csv)
      : rows_(job.earlier),
        duration_s_(job.duration_s),
        csv_(csv, job.start),
        line_(job.options.quiet),
        begin_s_(steady_s()) {
    for (const SoakRow& row : rows_) before_s_ = std::max(before_s_, row.elapsed_s);
  }

  void result(const Result& result) override {
    const SoakRow& row = rows_.emplace_back(soak_row(result, before_s_ + steady_s() - begin_s_));
    csv_.add(row);
    ++taken_;
    wrong_ += row.work.wrong_elements;
    if (result.record.is_bad()) {
      line_.erase();
      say("{}: {} on {}, interval {}: {}\n", name(row.status), row.case_id, row.device,
          row.interval, row.reason);
    }
    const std::string count =
        fmt::format("{} of {}, {}", duration_text(std::round(row.elapsed_s)),
                    duration_text(duration_s_), counted(wrong_, "wrong result", "wrong results"));
    const std::string what = row.device + " " + row.case_id;
    line_.show(row.elapsed_s / duration_s_, count, what, count + "; " + what);
  }
  void end(const RunInfo& /*run*/) override { line_.erase(); }

  const std::vector<SoakRow>& rows() const { return rows_; }
  std::int64_t taken() const { return taken_; }

 private:
  std::vector<SoakRow> rows_;
  double duration_s_;
  SoakCsv csv_;
  StatusLine line_;
  double begin_s_;
  double before_s_ = 0;  // of earlier sessions
  std::int64_t taken_ = 0;
  std::int64_t wrong_ = 0;
};

void make_soak_directory(SoakJob& job) {
  if (job.options.out.empty()) {
    job.run.directory =
        make_default_run_directory(std::chrono::system_clock::now(), job.run.host, "assay-soaks");
    job.directory_lock.emplace(job.run.directory);
  } else {
    job.run.directory = job.options.out;
    bool took_over = false;
    job.directory_lock.emplace(claim_run_directory(job.run.directory, took_over));
  }
}

/// One device that launched nothing keeps all of them from passing.
ExitCode exit_code_of(const std::vector<SoakDevice>& devices) {
  const auto has = [&](StatusClass verdict) {
    return std::ranges::any_of(devices,
                               [&](const SoakDevice& one) { return one.verdict() == verdict; });
  };
  if (has(StatusClass::wrong)) return wrong;
  if (has(StatusClass::broken)) return infrastructure;
  return devices.empty() || has(StatusClass::skipped) ? absent : ok;
}

void print_soak_end(const RunInfo& run, const std::vector<SoakDevice>& devices) {
  show_text(soak_report(devices));
  if (run.interrupted) {
    say("interrupted by signal {}: go on with assay soak --resume {}\n", interrupting_signal(),
        shell_word(run.directory.string()));
  }
  const auto passed = std::ranges::count_if(
      devices, [](const SoakDevice& one) { return one.verdict() == StatusClass::right; });
  const std::string why =
      fmt::format("{} of {}", passed, counted(std::ssize(devices), "device", "devices"));
  say_verdict(run.exit_code == ok      ? "PASSED"
              : run.exit_code == wrong ? "FAILED"
                                       : "INCOMPLETE",
              why + " passed");
  say("{}\n", (run.directory / "soak.csv").string());
}

int execute(const SoakOptions& asked, bool resumes) {
  SoakJob job = resumes ? resume_soak(asked, parse_soak_options) : begin_soak(asked);
  const SoakOptions& options = job.options;
  RunInfo& run = job.run;
  catch_interrupts();
  for (const std::string& note : run.notes) say("note: {}\n", note);
  const std::vector<DeviceLock> locks = lock_devices(run.devices, job.backends, options.wait);
  if (job.start == Start::fresh) make_soak_directory(job);
  if (!options.quiet) {
    say("{} intervals on {} for {} into {}\n", job.plan.size(),
        counted(std::ssize(job.planned), "device", "devices"), duration_text(job.duration_s),
        run.directory.string());
  }

  const double begin_s = steady_s();
  SoakSink sink(job, run.directory / "soak.csv");
  RunJson json(run.directory / "run.json");
  // Follows devices.csv: a directory with a run.json has all that resuming needs.
  if (job.start == Start::fresh) DevicesCsv(run.directory / "devices.csv").begin(run);
  json.begin(run);
  Sink* const sinks[] = {&sink};
  Supervisor supervisor({.worker = worker_command(options.selection),
                         .for_lane = share_cores_on,
                         .backends = job.backends,
                         .timeout_s = options.timeout_s + job.interval_s,
                         .seed = options.selection.seed,
                         .fail_fast = options.fail_fast,
                         .break_ends_lane = true,
                         .lanes = static_cast<int>(job.planned.size()),
                         .replay_flags = replay_flags(options.selection),
                         .interrupted = interrupted},
                        run, sinks);
  run.interrupted = supervisor.execute(job.plan) == PlanEnd::interrupted;
  sink.end(run);

  std::vector<SoakDevice> devices;
  for (const DeviceInfo& device : run.devices) {
    devices.push_back(soak_device(device, job.planned.at(device.device), sink.rows()));
  }
  run.exit_code = exit_code_of(devices);
  Session& session = run.sessions.back();
  session.ended_at = run.ended_at = utc_now();
  session.interrupted = run.interrupted;
  session.exit_code = run.exit_code;
  session.wall_s = steady_s() - begin_s;
  session.taken = sink.taken();
  run.wall_s += session.wall_s;
  run.taken += session.taken;
  run.phases += supervisor.phases();
  json.end(run);
  print_soak_end(run, devices);
  return run.exit_code;
}

}  // namespace

Command add_soak(CLI::App& program) {
  auto options = std::make_shared<SoakOptions>();
  CLI::App* app = program.add_subcommand(
      "soak", "keep all devices busy for hours, and compare every bit of what they compute");
  add_soak_options(*app, *options);
  app->footer(
      R"(Matrix products of exact data and copies of unique words run on every device at once. All bits of
all results are compared, wrong ones are counted, and the end states how rare they are at most.

Examples:
  assay soak --for 8h                          the CPU and every GPU
  assay soak --for 30m --device cuda --require cuda:8 --fail-fast
  assay soak --for 1h --case linear/bf16/batch=8192,in=8192,out=8192,bias=0,act=none
  assay soak --resume assay-soaks/TIME-HOST    goes on for the remaining time)");
  return {app, [app, options] {
            const bool resumes = app->count("--resume") > 0;
            if (resumes) check_soak_resume(*app);
            return execute(*options, resumes);
          }};
}

}  // namespace assay::cli
