#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/selection_options.h"

namespace assay::cli {

/// Options of `assay soak`. Those of a begun soak are read again from its stored command line.
struct SoakOptions {
  SelectionOptions selection;  // its devices, seed and cases
  std::filesystem::path out;
  std::filesystem::path resume;
  std::string duration;    // as typed; required for a new soak
  std::string interval;    // as typed; empty: the default
  double timeout_s = 300;  // beyond the interval: all devices are verified side by side
  bool fail_fast = false;
  bool wait = false;
  bool quiet = false;
};

void add_soak_options(CLI::App& command, SoakOptions& options);

/// Parses a stored command line, "assay soak ...". Throws UsageError if this version does not
/// understand it.
SoakOptions parse_soak_options(const std::vector<std::string>& command_line);

/// Throws UsageError for an option that may not go with --resume.
void check_soak_resume(const CLI::App& command);

}  // namespace assay::cli
