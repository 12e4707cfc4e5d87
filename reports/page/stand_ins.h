#pragma once

#include <string>
#include <string_view>

#include "harness/records/record.h"
#include "reports/page/sources.h"

namespace assay::page {

/// Returns "sim:0 (simulated)": a lane that is no real device says so.
std::string with_stand_in(std::string_view lane, std::string_view stand_in);
std::string lane_text(const Record& trial);
/// Returns the cell of devices.csv; empty in older ones.
std::string stand_in_of(const DeviceCells& cells);

}  // namespace assay::page
