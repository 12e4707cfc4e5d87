#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/core/params.h"

namespace assay {

/// Value of an extent that is written with the names of parameters: "rows", "2*cols", "cols//32",
/// "(in+1)*out". Knows + - * // and parentheses; // must leave no rest. Throws NotApplicable for
/// parameters that leave a rest or a number below 0, and UsageError for other text.
std::int64_t evaluate_extent(std::string_view text, const Params& params);

}  // namespace assay
