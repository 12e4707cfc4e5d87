#include "reports/text/column_unit.h"

#include <array>

namespace assay {

UnitColumn split_unit(std::string_view column) {
  struct Suffix {
    std::string_view text;
    std::string_view unit;
  };
  constexpr std::array<Suffix, 5> suffixes{
      {{"_bytes_per_s", "B/s"}, {"_bytes", "B"}, {"_hz", "Hz"}, {"_c", "°C"}, {"_w", "W"}}};
  for (const Suffix& suffix : suffixes) {
    if (!column.ends_with(suffix.text)) continue;
    column.remove_suffix(suffix.text.size());
    return {column, suffix.unit};
  }
  return {column, ""};
}

}  // namespace assay
