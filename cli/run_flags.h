#pragma once

#include <string>
#include <vector>

#include "session/run/run_options.h"

namespace CLI {
class App;
}

namespace assay::cli {

void add_run_options(CLI::App& command, RunOptions& options);

/// Adds those that say how each trial is executed, for any runner: --soak, --strict, --timeout,
/// --wait.
void add_trial_options(CLI::App& command, RunOptions& options);

/// Parses a stored command line, "assay run ...". Throws UsageError if this version does not
/// understand it.
RunOptions parse_run_options(const std::vector<std::string>& command_line);

}  // namespace assay::cli
