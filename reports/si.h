#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A quantity for people: three significant digits and a decimal prefix, "1.23 TB/s", "0 s".
std::string si(double value, std::string_view unit);

}  // namespace assay
