#pragma once

#include <span>
#include <string>

#include "harness/records/record.h"

namespace assay {

/// Returns the harness's own part of the samples of a run, in a line: "reading the clock takes 41
/// ns of a sample, 0.02% of it (worst 0.9%); 0.3 us pass between two", medians over all timed
/// trials. Empty if nothing was timed.
std::string harness_cost(std::span<const Record> trials);

}  // namespace assay
