#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A quantity for people: three significant digits and a decimal prefix, "1.23 TB/s", "0 s".
std::string si(double value, std::string_view unit);

/// With an interval, all three by the prefix of the value: "1.23 TB/s (1.20 to 1.25)".
std::string si(double value, double low, double high, std::string_view unit);

/// A ratio for people: four significant digits however small it is, "1.050", "0.00004840", "20663".
std::string ratio_text(double ratio);

/// A change of a time by this ratio: "+50.0%", beyond ten times "×20.66".
std::string change_text(double ratio);

}  // namespace assay
