#pragma once

#include "harness/records/record.h"

namespace assay {

/// Empties all columns of times, rates and energy, and the share of a limit: wrong work has none.
void forget_times(Record& record);

}  // namespace assay
