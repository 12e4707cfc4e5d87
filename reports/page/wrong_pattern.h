#pragma once

#include <string>

#include "harness/records/record.h"

namespace assay::page {

/// Says in some words how a result is wrong, by its worst element ("one bit off", "NaN where a
/// number belongs") or else by its reason. Results of one cause say it alike: numbers in a reason
/// do not count.
std::string wrong_pattern(const Record& trial);

}  // namespace assay::page
