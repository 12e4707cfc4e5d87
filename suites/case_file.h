#pragma once

#include <istream>
#include <string_view>
#include <vector>

#include "harness/plan/case.h"

namespace assay {

/// Reads a CSV of cases. The header has `suite` and `dtype`, perhaps `op` (by default the suite's
/// name), and parameter names in any order; a cell is left empty where its op has no such
/// parameter. Throws UsageError("NAME:LINE:COLUMN: why"), LINE and COLUMN counted from 1.
std::vector<Case> read_case_file(std::istream& text, std::string_view name);

}  // namespace assay
