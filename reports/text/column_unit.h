#pragma once

#include <string_view>

namespace assay {

/// Name of a column, split by the rule of docs/csv.md: its unit stands at the end of its name.
struct UnitColumn {
  std::string_view name;  // "memory_total" of "memory_total_bytes"
  std::string_view unit;  // "B"; empty for a count, a ratio and a text
};

UnitColumn split_unit(std::string_view column);

}  // namespace assay
