#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/records/soak_row.h"
#include "session/life/live_run.h"
#include "session/soak/soak_options.h"

namespace assay {

/// A soak that is about to begin, or to go on.
struct SoakJob : LiveRun {
  SoakOptions options;
  double duration_s = 0;
  double interval_s = 0;                        // the longest
  std::map<std::string, std::int64_t> planned;  // intervals, by device
  std::vector<PlannedTrial> plan;  // intervals without a row; `repeat` counts them for each device
  std::vector<SoakRow> earlier;
};

/// Intervals of one device: its cases take turns for `duration_s`. Without an interval each has ten
/// seconds, or less, so that each case has its turn.
std::vector<PlannedTrial> soak_plan(const DeviceId& device, const std::vector<Case>& cases,
                                    double duration_s, std::optional<double> interval_s);

/// Plans a soak; its directory is not yet made. Throws UsageError and AbsentDevice.
SoakJob begin_soak(const SoakOptions& options);

/// Parses the command line of a stored soak. Throws UsageError if this version does not understand
/// it.
using ParseSoak = std::function<SoakOptions(const std::vector<std::string>& command_line)>;

/// Reads the soak that `options.resume` names and plans the intervals that have no row. Changes no
/// file. Throws as resume_job does.
SoakJob resume_soak(const SoakOptions& options, const ParseSoak& parse);

}  // namespace assay
