#pragma once

#include <span>
#include <string>

#include "harness/run/plan.h"

namespace assay::cli {

/// Roughly what a plan takes in seconds, from the measuring time and the work of each trial.
double estimate_s(std::span<const PlannedTrial> plan, double cap_s);

/// "45 s", "3 min"
std::string human_duration(double seconds);

}  // namespace assay::cli
