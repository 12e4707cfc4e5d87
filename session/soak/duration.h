#pragma once

#include <string_view>

namespace assay {

/// Seconds of "8h", "30m", "45s", "1h30m" or "90", more than none and at most a year. Throws
/// UsageError.
double parse_duration(std::string_view text);

}  // namespace assay
