#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>

#include "cli/command.h"
#include "cli/describe_run.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/selection_options.h"
#include "harness/clock.h"
#include "harness/run/supervisor.h"
#include "kernels/base/status.h"
#include "reports/overview.h"
#include "reports/reports.h"
#include "reports/run_directory.h"

namespace assay::cli {
namespace {

/// In words: CLI11's own check prints the whole range of double.
const CLI::Validator at_least_one_second(
    [](const std::string& text) {
      double seconds = 0;
      const bool right = CLI::detail::lexical_cast(text, seconds) && seconds >= 1;
      return right ? std::string() : "must be a number of seconds from 1, not '" + text + "'";
    },
    "");

struct RunOptions {
  SelectionOptions selection;
  std::filesystem::path out;
  double timeout_s = 120;  // ample for the largest case of `full`
  bool quiet = false;
};

std::atomic<int> signal_received{0};
static_assert(std::atomic<int>::is_always_lock_free);  // for the handler

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { signal_received = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void print_end(const RunInfo& run, const Progress& progress, bool quiet) {
  if (run.interrupted) {
    say("interrupted by signal {}: {} of {} trials have rows\n", signal_received.load(),
        run.planned - run.missing, run.planned);
  }
  if (!quiet) say("\n{}\n", overview(progress.records()));
  say("{}: {}\n{}\n", run.exit_code == ok ? "PASS" : "NOT GREEN", progress.tally().text(),
      (run.directory / "results.csv").string());
}

int execute(const RunOptions& options) {
  const SelectedTrials selected = select_trials(options.selection);
  const Profile& profile = find_profile(options.selection.cases.profile);

  RunInfo run = describe_run(options.selection, selected);
  if (options.out.empty()) {
    run.directory = make_default_run_directory(std::chrono::system_clock::now(), run.host);
  } else {
    make_run_directory(options.out);
    run.directory = options.out;
  }

  Progress progress(options.quiet);
  const auto files = run_directory_sinks(run.directory);
  std::vector<Sink*> sinks;
  for (const auto& file : files) sinks.push_back(file.get());
  sinks.push_back(&progress);  // last: what it shows is on disk
  for (Sink* sink : sinks) sink->begin(run);

  handle_signals();
  Supervisor supervisor({.worker = worker_command(options.selection, profile.cap_s),
                         .timeout_s = options.timeout_s,
                         .seed = options.selection.seed,
                         .replay_flags = replay_flags(options.selection),
                         .interrupted = [] { return signal_received != 0; }},
                        run, sinks);
  const bool completed = supervisor.execute(selected.plan);

  run.ended_at = utc_now();
  run.interrupted = !completed;
  for (const auto& [status, count] : progress.tally().by_status) run.missing -= count;
  run.exit_code = exit_code_of(progress.tally().by_status, completed && run.missing == 0);
  for (Sink* sink : sinks) sink->end(run);
  print_end(run, progress, options.quiet);
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
  assay run --check-only --require cuda:8    a gate: exit 3 with fewer than eight GPUs)");
  add_selection_options(*app, options->selection);
  app->add_option("--out", options->out, "run directory (default: assay-runs/TIME-HOST)")
      ->type_name("DIR");
  app->add_flag("--check-only", options->selection.check_only, "verify and do not measure");
  app->add_option("--timeout", options->timeout_s, "of one case")
      ->check(at_least_one_second)
      ->type_name("SECONDS")
      ->capture_default_str();
  app->add_flag("--quiet", options->quiet, "only what did not pass, and the end");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
