#pragma once

#include <span>
#include <string>

#include "harness/record.h"

namespace assay {

/// The run in a few lines for a terminal: of each op on each device how many trials were right, and
/// the case with the highest rate.
std::string overview(std::span<const Record> records);

}  // namespace assay
