#include "cli/run_flags.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "cli/selection_flags.h"
#include "cli/stored_command.h"
#include "session/options/validators.h"

namespace assay::cli {
namespace {

/// Replaces CLI11's own check, which prints the whole range of double.
const CLI::Validator at_least_one_second(
    [](const std::string& text) {
      double seconds = 0;
      const bool right = CLI::detail::lexical_cast(text, seconds) && seconds >= 1 && seconds <= 1e9;
      return right ? std::string() : "must be a number of seconds from 1, not '" + text + "'";
    },
    "");

CLI::Option* add_seconds(CLI::App& app, const char* name, double& value, const char* help) {
  return app.add_option(name, value, help)->check(at_least_one_second)->type_name("SECONDS");
}

constexpr const char* gate = "Gates";
constexpr const char* machine_group = "Machine";

}  // namespace

void add_trial_options(CLI::App& app, RunOptions& o) {
  add_trial_option(app, o.selection, "--soak");
  add_trial_option(app, o.selection, "--batch-invariant");
  add_trial_option(app, o.selection, "--strict");
  add_seconds(app, "--timeout", o.timeout_s, "limit for one case (default: 120; edges: 1800)")
      ->group(gate);
  app.add_flag("--wait", o.wait, "wait for a device that another run holds")->group(machine_group);
}

void add_run_options(CLI::App& app, RunOptions& o) {
  add_selection_options(app, o.selection);
  app.add_option("--out", o.out, "run directory (default: assay-runs/TIME-HOST)")->type_name("DIR");
  app.add_option("--resume", o.resume,
                 "complete the run in DIR, with its selection and options; rows stay")
      ->type_name("DIR");
  add_timing_options(app, o.selection);
  add_trial_option(app, o.selection, "--energy")->excludes(app.get_option("--check-only"));
  app.add_flag("--no-limits", o.no_limits, "do not measure the limits of large trials first");
  add_trial_options(app, o);
  add_trial_option(app, o.selection, "--without-check")->group("");  // only selftest uses it

  CLI::Option* budget =
      add_seconds(app, "--budget", o.budget_s,
                  "begin no trial after that time; covers every suite, op and dtype first");
  budget->group(gate);
  app.add_option("--retries", o.retries,
                 "further attempts at a trial that did not pass, a row each")
      ->check(CLI::Range(0, 100))
      ->type_name("N")
      ->group(gate);
  app.add_flag("--allow-flaky", o.allow_flaky, "a pass on a retry does not fail the run")
      ->group(gate);
  app.add_flag("--fail-fast", o.fail_fast, "end the run at the first trial that stays bad")
      ->group(gate);
  app.add_option("--expected", o.expected,
                 "known failures, a CSV: case, reason, owner, expires, [device], [status], "
                 "[implementation]; - is standard input")
      ->check(not_empty())
      ->type_name("FILE.csv")
      ->group(gate);
  CLI::Option* repeat = app.add_option("--repeat", o.repeat, "take every trial N times")
                            ->check(CLI::Range(1, 1000000))
                            ->type_name("N")
                            ->group(gate);
  repeat->excludes(budget);

  app.add_option("--choices", o.choices,
                 "file that keeps the algorithms that times chose, over runs (docs/cuda.md)")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(machine_group);
  app.add_option("--lanes", o.lanes,
                 "workers that check side by side (default: one per core, and one)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->group(machine_group);
  app.add_flag("--overlap-timings", o.overlap_timings,
               "take times side by side too: faster, and noisier")
      ->group(machine_group);
  app.add_flag("--jsonl", o.jsonl, "print each record as a line of JSON on standard output");
  app.add_flag("--quiet", o.quiet, "show only bad results and the end");
}

RunOptions parse_run_options(const std::vector<std::string>& command_line) {
  RunOptions options;
  CLI::App app;
  add_run_options(app, options);
  parse_stored(app, "run", command_line);
  return options;
}

}  // namespace assay::cli
