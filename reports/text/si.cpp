#include "reports/text/si.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace assay {

namespace {

constexpr std::array si_prefixes{"f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P"};
constexpr int lowest = -5;
constexpr int highest = 5;

struct TimeUnit {
  double seconds;
  const char* name;
};
constexpr std::array time_units{TimeUnit{86400, "d"}, TimeUnit{3600, "h"}, TimeUnit{60, "min"},
                                TimeUnit{1, "s"}};

/// Scale of a value: divided by 1000 to a power, with so many digits behind the point.
struct Scale {
  int thousands = 0;
  int digits = 0;

  std::string number(double value) const {
    return fmt::format("{:.{}f}", value / std::pow(1000, thousands), digits);
  }
  std::string_view prefix() const {
    return si_prefixes.at(static_cast<unsigned>(thousands - lowest));
  }
};

/// Returns the power of ten after rounding to so many digits behind the first, so that 999.7
/// becomes 1.00 k rather than 1000.
int exponent_of(double value, int digits) {
  const std::string rounded = fmt::format("{:.{}e}", value, digits);
  return std::stoi(rounded.substr(rounded.find('e') + 1));
}

Scale scale_of(double value) {
  const int exponent = exponent_of(value, 2);
  const int thousands = exponent >= 0 ? exponent / 3 : (exponent - 2) / 3;
  const int used = std::clamp(thousands, lowest, highest);
  return {used, std::max(0, 2 - (exponent - 3 * used))};
}

}  // namespace

std::string si(double value, std::string_view unit) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{} {}", value, unit);
  const Scale scale = scale_of(value);
  return fmt::format("{} {}{}", scale.number(value), scale.prefix(), unit);
}

std::string si(double value, double low, double high, std::string_view unit) {
  if (value == 0 || !std::isfinite(value)) return si(value, unit);
  const Scale scale = scale_of(value);
  return fmt::format("{} {}{} ({} to {})", scale.number(value), scale.prefix(), unit,
                     scale.number(low), scale.number(high));
}

std::string ratio_text(double ratio) {
  if (ratio == 0 || !std::isfinite(ratio)) return fmt::format("{}", ratio);
  return fmt::format("{:.{}f}", ratio, std::max(0, 3 - exponent_of(ratio, 3)));
}

std::string with_commas(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > (count < 0 ? 1 : 0); at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string counted(std::int64_t count, std::string_view singular, std::string_view plural) {
  const bool takes_s = count != 1 && plural.empty();
  return fmt::format("{} {}{}", with_commas(count), count == 1 || takes_s ? singular : plural,
                     takes_s ? "s" : "");
}

std::string duration_text(double seconds) {
  if (!(seconds >= 9.95)) return fmt::format("{:.2g} s", seconds);
  double left = std::round(seconds);
  const auto largest =
      std::ranges::find_if(time_units, [&](const TimeUnit& unit) { return unit.seconds <= left; });
  const auto next = std::next(largest);
  const double finest = next == time_units.end() ? largest->seconds : next->seconds;
  left = std::round(left / finest) * finest;
  std::string text;
  for (const TimeUnit& unit : time_units) {
    const double count = std::floor(left / unit.seconds);
    if (!(count > 0)) continue;
    text += fmt::format("{}{:.0f} {}", text.empty() ? "" : " ", count, unit.name);
    left -= count * unit.seconds;
  }
  return text;
}

std::string change_in_words(double ratio) {
  const char* word = ratio > 1 ? "slower" : "faster";
  if (ratio <= 10 && ratio >= 0.1) {
    return fmt::format("{:.1f}% {}", std::abs(100 * (ratio - 1)), word);
  }
  const double times = ratio > 1 ? ratio : 1 / ratio;
  if (!std::isfinite(times) || times >= 1e15) return fmt::format("{:.3g}× {}", times, word);
  const int digits = exponent_of(times, 2);
  if (digits < 3) return fmt::format("{:.{}f}× {}", times, 2 - digits, word);
  const double unit = std::pow(10, digits - 2);
  const auto rounded = static_cast<std::int64_t>(std::round(times / unit) * unit);
  return fmt::format("{}× {}", with_commas(rounded), word);
}

std::string change_text(double ratio) {
  if (ratio > 10 || ratio < 0.1) return "×" + ratio_text(ratio);
  return fmt::format("{:+.1f}%", 100 * (ratio - 1));
}

}  // namespace assay
