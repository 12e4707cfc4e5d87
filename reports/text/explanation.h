#pragma once

#include <string>

#include "harness/records/record.h"

namespace assay {

/// Explains a result that did not pass: reason, worst element, command that repeats it. A line
/// each.
std::string explanation(const Record& record);

/// Returns "40 times the allowed error", "allowed: none (exact)"; empty if the result is right or
/// the error is not known.
std::string excess_text(const Record& record);

}  // namespace assay
