#include "reports/si.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {

std::string si(double value, std::string_view unit) {
  constexpr std::array prefixes{"f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P"};
  constexpr int lowest = -5;
  constexpr int highest = 5;
  if (value == 0 || !std::isfinite(value)) return fmt::format("{} {}", value, unit);
  // The exponent after rounding, so that 999.7 becomes 1.00 k rather than 1000.
  const std::string rounded = fmt::format("{:.2e}", value);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  const int thousands = exponent >= 0 ? exponent / 3 : (exponent - 2) / 3;
  const int prefix = std::clamp(thousands, lowest, highest);
  const int digits = std::max(0, 2 - (exponent - 3 * prefix));
  const auto index = static_cast<unsigned>(prefix - lowest);
  return fmt::format("{:.{}f} {}{}", value / std::pow(1000, prefix), digits, prefixes.at(index),
                     unit);
}

}  // namespace assay
