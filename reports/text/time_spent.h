#pragma once

#include <string>
#include <vector>

#include "harness/records/run_info.h"

namespace assay {

/// Returns the duration of a run: "3 min 2 s"; for a resumed one "3 min 2 s in 2 sessions", or "in
/// 2 of 3 sessions" if one was killed or goes on, and has no times. Empty before one has ended.
std::string took(const RunInfo& run);

/// Returns a line for each session of a resumed run: begin, duration, end. None for a run of one
/// session.
std::vector<std::string> sessions(const RunInfo& run);

/// Returns the phases of a run's time in a line: "3 min 2 s for 2,167 trials, 0.084 s each =
/// sampling 61%, reference 12%, ...", the largest first and none below half a percent. The parts of
/// parallel lanes are those of the sum of their workers' times. Empty before a session has ended.
std::string time_spent(const RunInfo& run);

}  // namespace assay
