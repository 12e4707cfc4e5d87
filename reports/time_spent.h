#pragma once

#include <string>
#include <vector>

#include "harness/records/run_info.h"

namespace assay {

/// How long a run took: "182 s"; of one that was resumed "182 s in 2 sessions", or "in 2 of 3
/// sessions" where one was killed, or goes on, and has left no times. Empty before one has ended.
std::string took(const RunInfo& run);

/// A line on each session of a run that was resumed: when, how long, how it ended. None for a run
/// of one session.
std::vector<std::string> sessions(const RunInfo& run);

/// Where the time of a run went, in a line: "182 s for 2167 trials, 0.084 s each = sampling 61%,
/// reference 12%, ...", the largest part first and none below half a percent. Where lanes worked
/// side by side the parts are of what their workers spent together, which is longer. Empty before a
/// session has ended.
std::string time_spent(const RunInfo& run);

}  // namespace assay
