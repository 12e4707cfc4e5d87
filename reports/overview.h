#pragma once

#include <span>
#include <string>

#include "harness/record.h"

namespace assay {

/// The outcomes of a run in a few lines for a terminal: of each op on each device how many trials
/// were right, and the rate of the largest case that was. The largest and not the fastest, because
/// the fastest is the one that fits a cache.
std::string overview(std::span<const Record> trials);

}  // namespace assay
