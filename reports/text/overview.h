#pragma once

#include <span>
#include <string>

#include "harness/records/record.h"

namespace assay {

/// Returns the outcomes of a run in a few lines for a terminal: for each op and dtype on each
/// device the number of right trials, and the rate of the largest right case. The fastest case
/// would be one that fits a cache. If that fills more than a page the dtypes of an op share a line,
/// with the rate of f32 if there is one. Names the slowest link of many. Counts the figures that
/// were contended or throttled.
std::string overview(std::span<const Record> trials);

}  // namespace assay
