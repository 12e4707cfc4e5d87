#pragma once

#include <string>

#include "harness/run_info.h"

namespace assay {

/// Where the time of a run went, in a line: "182 s for 2167 trials, 0.084 s each = sampling 61%,
/// reference 12%, ...", the largest part first and none below half a percent. Where lanes worked
/// side by side the parts are of what their workers spent together, which is longer. Empty while
/// the run goes on.
std::string time_spent(const RunInfo& run);

}  // namespace assay
