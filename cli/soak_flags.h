#pragma once

#include <string>
#include <vector>

#include "session/soak/soak_options.h"

namespace CLI {
class App;
}

namespace assay::cli {

void add_soak_options(CLI::App& command, SoakOptions& options);

/// Parses a stored command line, "assay soak ...". Throws UsageError if this version does not
/// understand it.
SoakOptions parse_soak_options(const std::vector<std::string>& command_line);

}  // namespace assay::cli
