#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// Shows a quantity: three significant digits and a decimal prefix, "1.23 TB/s", "0 s".
std::string si(double value, std::string_view unit);

/// Shows it with an interval, all three by the prefix of the value: "1.23 TB/s (1.20 to 1.25)".
std::string si(double value, double low, double high, std::string_view unit);

/// Shows a count with commas: "20,663".
std::string with_commas(std::int64_t count);

/// Shows a count of things: "1 run", "2,446 runs". The plural ends in s unless it is given.
std::string counted(std::int64_t count, std::string_view singular, std::string_view plural = {});

/// Shows a time as people say it: "0.084 s", "45 s", "4 min 19 s", "8 h", at most two units of it.
std::string duration_text(double seconds);

/// Shows a ratio: four significant digits however small it is, "1.050", "0.00004840", "20663".
std::string ratio_text(double ratio);

/// Shows a change of a time by this ratio: "+50.0%", beyond ten times "×20.66".
std::string change_text(double ratio);

/// In words: "15.0% slower" for a time that is longer by so much; beyond ten times "20,600×
/// faster".
std::string change_in_words(double ratio);

}  // namespace assay
