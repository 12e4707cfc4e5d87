#include "reports/files/results_table.h"

#include <fmt/format.h>

namespace assay {

TableRules results_rules() {
  return {.required = {"case_id", "device", "timing", "attempt", "repeat", "status"},
          .newest_schema = Record().schema_version};
}

UsageError second_row(std::string_view name, std::size_t line, std::size_t first_line,
                      const Record& key) {
  return csv_error(
      name, line, 1,
      fmt::format("a second row of {} on {} ({}, attempt {}, repeat {}); the first is in line {}",
                  key.case_id, key.device, key.timing.empty() ? "not timed" : key.timing,
                  key.attempt, key.repeat, first_line));
}

}  // namespace assay
