#pragma once

#include <string>

#include "harness/record.h"

namespace assay {

/// What a person needs to begin with a result that did not pass: why, where it was worst, and how
/// to see it again. A line each.
std::string explanation(const Record& record);

}  // namespace assay
