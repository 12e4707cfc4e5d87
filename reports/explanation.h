#pragma once

#include <string>

#include "harness/records/record.h"

namespace assay {

/// What a person needs to begin with a result that did not pass: why, where it was worst, and how
/// to see it again. A line each.
std::string explanation(const Record& record);

/// "40 times the allowed error", "allowed: none (exact)"; empty for what is right and where it is
/// not known.
std::string excess_text(const Record& record);

}  // namespace assay
