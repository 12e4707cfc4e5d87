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
};
constexpr std::array units{Unit{'d', 86400}, Unit{'h', 3600}, Unit{'m', 60}, Unit{'s', 1}};
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

}  // namespace assay
