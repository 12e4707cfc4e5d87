#pragma once

#include <cstddef>

#include "harness/records/run_info.h"
#include "reports/text/outcomes.h"

namespace assay {

/// Prints the end of the run; its first `said` notes were printed when it began.
void print_end(const RunInfo& run, const Outcomes& outcomes, std::size_t said, bool quiet);

}  // namespace assay
