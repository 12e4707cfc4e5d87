#pragma once

#include "session/options/selection_options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay::cli {

void add_selection_options(CLI::App& command, SelectionOptions& options);
/// Adds those of them that choose devices, seed and threads: --device to --threads.
void add_device_options(CLI::App& command, SelectionOptions& options);
/// Adds --timing.
CLI::Option* add_timing_option(CLI::App& command, SelectionOptions& options);
/// Adds --stand-ins, for commands that only measure.
void add_stand_ins_option(CLI::App& command, SelectionOptions& options);
/// Adds --timeout, for commands whose limit is the same for all profiles.
void add_timeout_option(CLI::App& command, double& timeout_s, const char* help);
/// Adds --check-only and --timing.
void add_timing_options(CLI::App& command, SelectionOptions& options);

}  // namespace assay::cli
