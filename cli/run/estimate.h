#pragma once

#include <span>
#include <string>

#include "harness/plan/plan.h"

namespace assay::cli {

/// Estimates the seconds of a plan from the measuring time and the work of each trial.
double estimate_s(std::span<const PlannedTrial> plan, double cap_s);

/// Estimates the time left of `total_s` after work estimated at `done_s` took `spent_s`. The pace
/// so far scales the estimate, with little weight at first.
double time_left_s(double spent_s, double done_s, double total_s);

/// "45 s", "3 min"
std::string human_duration(double seconds);

}  // namespace assay::cli
