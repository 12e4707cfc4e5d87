#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/selection_options.h"

namespace CLI {
class App;
}

namespace assay::cli {

/// What `assay run` takes beside a selection.
struct RunOptions {
  SelectionOptions selection;
  std::filesystem::path out;
  std::filesystem::path resume;
  double timeout_s = 120;  // ample for the largest case of `full`
  double budget_s = 0;     // 0: none
  int repeat = 1;
  double duration_s = 0;  // 0: repeat as often as `repeat` says
  int retries = 0;
  bool allow_flaky = false;
  bool fail_fast = false;
  std::filesystem::path expected;
  int lanes = 0;  // 0: as many as this machine has cores
  bool overlap_timings = false;
  bool wait = false;
  bool no_limits = false;
  bool jsonl = false;
  bool quiet = false;
};

void add_run_options(CLI::App& command, RunOptions& options);

/// Those of them that say how each trial is executed, and make sense for any other runner too:
/// --soak, --strict, --timeout, --wait.
void add_trial_options(CLI::App& command, RunOptions& options);

/// The options of a stored command line, "assay run ...". Throws UsageError where this version does
/// not understand it.
RunOptions parse_run_options(const std::vector<std::string>& command_line);

/// The options beside case, device and seed that a replay needs: "--threads 1 --timeout 2".
std::function<std::string(const Record&)> replay_flags(const RunOptions& options);

/// With --resume everything else comes from the stored command line: throws UsageError that names
/// an option beside those which may go with it.
void check_resume_options(const CLI::App& command);

}  // namespace assay::cli
