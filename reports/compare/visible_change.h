#pragma once

#include <span>
#include <string>

#include "harness/records/paired.h"

namespace assay {

/// Returns the smallest change, 0.07 for 7%, that the interval of a case would have shown had it
/// lain around another ratio: the margin, and beyond it the longer arm of the interval. Infinite
/// without an interval.
double visible_change(const PairedCase& one);

/// Tells the inconclusive cases of a comparison by what they could have seen: "this run could have
/// seen changes of 7% or more in half of the cases, 22% in all". Rounds up. Empty if there are
/// none.
std::string visible_changes_text(std::span<const PairedCase> cases);

}  // namespace assay
