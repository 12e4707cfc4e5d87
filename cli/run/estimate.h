#pragma once

#include <span>
#include <string>

#include "harness/plan/plan.h"

namespace assay::cli {

/// Roughly what a plan takes in seconds, from the measuring time and the work of each trial.
double estimate_s(std::span<const PlannedTrial> plan, double cap_s);

/// What is left of an estimate of `total_s` when work estimated at `done_s` took `spent_s`: as much
/// faster or slower as it went until now, which at first weighs little against the estimate.
double time_left_s(double spent_s, double done_s, double total_s);

/// "45 s", "3 min"
std::string human_duration(double seconds);

}  // namespace assay::cli
