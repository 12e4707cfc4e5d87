#include "session/soak/soak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/replay.h"
#include "harness/supervise/supervisor.h"
#include "kernels/core/clock.h"
#include "reports/files/devices_csv.h"
#include "reports/files/run_json.h"
#include "reports/files/table_file.h"
#include "reports/text/si.h"
#include "reports/text/soak_report.h"
#include "session/console/say_verdict.h"
#include "session/console/status_line.h"
#include "session/console/stderr_message.h"
#include "session/process/exit_code.h"
#include "session/process/interrupt.h"
#include "session/workers/run_choices.h"

namespace assay {
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
                    duration_text(duration_s_), counted(wrong_, "wrong result"));
    const std::string what = row.device + " " + row.case_id;
    line_.show(row.elapsed_s / duration_s_, count, what, count + "; " + what);
  }
  void end(const RunInfo& /*run*/) override { line_.erase(); }

  const std::vector<SoakRow>& rows() const { return rows_; }
  std::int64_t taken() const { return taken_; }

 private:
  std::vector<SoakRow> rows_;
  double duration_s_;
  TableFile<SoakRow> csv_;
  StatusLine line_;
  double begin_s_;
  double before_s_ = 0;  // of earlier sessions
  std::int64_t taken_ = 0;
  std::int64_t wrong_ = 0;
};

/// One device that launched nothing keeps all of them from passing.
ExitCode exit_code_of(const std::vector<SoakDevice>& devices) {
  const auto has = [&](StatusClass verdict) {
    return std::ranges::any_of(devices,
                               [&](const SoakDevice& one) { return one.verdict() == verdict; });
  };
  return exit_code_of(Ending{.any_wrong = has(StatusClass::wrong),
                             .any_broken = has(StatusClass::broken),
                             .any_missing = has(StatusClass::skipped),
                             .any_right = !devices.empty()});
}

void print_soak_end(const RunInfo& run, const std::vector<SoakDevice>& devices) {
  show_text(soak_report(devices));
  if (run.interrupted) {
    say("interrupted by signal {}: go on with assay soak --resume {}\n", interrupting_signal(),
        shell_word(run.directory.string()));
  }
  const auto passed = std::ranges::count_if(
      devices, [](const SoakDevice& one) { return one.verdict() == StatusClass::right; });
  const std::string why = fmt::format("{} of {}", passed, counted(std::ssize(devices), "device"));
  say_verdict(run.exit_code == ok      ? "PASSED"
              : run.exit_code == wrong ? "FAILED"
                                       : "INCOMPLETE",
              why + " passed");
  say("{}\n", (run.directory / "soak.csv").string());
}

}  // namespace

int soak(SoakJob& job) {
  const SoakOptions& options = job.options;
  RunInfo& run = job.run;
  job.begin(options.wait);
  if (job.start == Start::fresh) job.make_directory(options.out, "assay-soaks", true);
  if (!options.quiet) {
    say("{} intervals on {} for {} into {}\n", job.plan.size(),
        counted(std::ssize(job.planned), "device"), duration_text(job.duration_s),
        run.directory.string());
  }

  SoakSink sink(job, run.directory / "soak.csv");
  RunJson json(run.directory / "run.json");
  // Follows devices.csv: a directory with a run.json has all that resuming needs.
  if (job.start == Start::fresh) DevicesCsv(run.directory / "devices.csv").begin(run);
  json.begin(run);
  Sink* const sinks[] = {&sink};
  SupervisorOptions supervision = job.supervision(options.selection);
  share_choices(run.directory, supervision.worker);
  supervision.timeout_s = options.timeout_s + job.interval_s;
  supervision.fail_fast = options.fail_fast;
  supervision.break_ends_lane = true;
  supervision.lanes = static_cast<int>(job.planned.size());
  Supervisor supervisor(std::move(supervision), run, sinks);
  run.interrupted = supervisor.execute(job.plan) == PlanEnd::interrupted;
  sink.end(run);

  std::vector<SoakDevice> devices;
  for (const DeviceInfo& device : run.devices) {
    devices.push_back(soak_device(device, job.planned.at(device.device), sink.rows()));
  }
  run.exit_code = exit_code_of(devices);
  job.end(supervisor, sink.taken());
  json.end(run);
  print_soak_end(run, devices);
  return run.exit_code;
}

}  // namespace assay
