#include "session/soak/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "kernels/core/status.h"

namespace assay {
namespace {

struct Unit {
  char letter;
  double seconds;
  const char* word;
};
constexpr std::array units{Unit{'d', 86400, "d"}, Unit{'h', 3600, "h"}, Unit{'m', 60, "min"},
                           Unit{'s', 1, "s"}};
constexpr double max_duration_s = 366.0 * 86400;

}  // namespace

double parse_duration(std::string_view text) {
  const auto refuse = [&] {
    return UsageError(fmt::format(
        "a duration is a number with a unit, like 8h, 30m, 45s or 1h30m, not '{}'", text));
  };
  double sum = 0;
  std::size_t next_unit = 0;  // units come in their order, each once
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    double number = 0;
    const auto [stop, error] = std::from_chars(at, end, number, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(number) || number < 0) throw refuse();
    const char letter = stop < end ? *stop : 's';
    while (next_unit < units.size() && units.at(next_unit).letter != letter) ++next_unit;
    if (next_unit == units.size()) throw refuse();
    sum += number * units.at(next_unit++).seconds;
    at = stop < end ? stop + 1 : end;
  }
  if (!(sum > 0 && sum <= max_duration_s)) throw refuse();
  return sum;
}

std::string duration_text(double seconds) {
  std::string text;
  double left = seconds < 60 ? seconds : std::round(seconds);
  for (const Unit& unit : units) {
    const bool is_last = unit.seconds == 1;
    const double count = is_last ? left : std::floor(left / unit.seconds);
    if (count <= 0) continue;
    text += fmt::format("{}{:.3g} {}", text.empty() ? "" : " ", count, unit.word);
    left -= count * unit.seconds;
  }
  return text.empty() ? "0 s" : text;
}

}  // namespace assay
