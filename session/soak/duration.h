#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Seconds of "8h", "30m", "45s", "1h30m" or "90", more than none and at most a year. Throws
/// UsageError.
double parse_duration(std::string_view text);

/// "8 h", "1 h 30 min", "45 s".
std::string duration_text(double seconds);

}  // namespace assay
