#include "reports/files/results_columns.h"

#include <fmt/format.h>

#include "harness/records/record.h"

namespace assay {

ResultsColumns::ResultsColumns(std::string_view name, const CsvRow& header)
    : CsvHeader(name, header),
      schema_at_(place("schema_version")),
      low_at_(place("time_ci_low_s")) {
  try {
    for (const char* key : {"case_id", "device", "timing", "attempt", "repeat", "status"})
      need(key);
  } catch (const UsageError& missing) {
    missing_ = missing;
  }
}

void ResultsColumns::check_header() const {
  if (missing_) throw UsageError(*missing_);
}

void ResultsColumns::check(const CsvRow& row) const {
  check_schema(row);
  check_header();
  check_width(row);
}

/// Runs before all other checks, as a newer schema may change anything else.
void ResultsColumns::check_schema(const CsvRow& row) const {
  if (schema_at_ >= row.fields.size()) return;
  static const std::int64_t readable = Record().schema_version;
  std::int64_t schema = 0;
  read(row, "schema_version", schema_at_, schema);
  if (schema > readable) {
    throw error(row, schema_at_,
                "schema version " + std::to_string(schema) + ", and this build of assay reads " +
                    "up to " + std::to_string(readable) + "; read it with a newer one");
  }
}

void ResultsColumns::check_interval(const CsvRow& row, std::optional<double> low,
                                    std::optional<double> high) const {
  if (low && high && *low > *high) {
    throw error(row, low_at_, "time_ci_low_s: above time_ci_high_s");
  }
}

UsageError second_row(std::string_view name, std::size_t line, std::size_t first_line,
                      const Record& key) {
  return UsageError(fmt::format(
      "{}:{}:1: a second row of {} on {} ({}, attempt {}, repeat {}); the first is in line {}",
      name, line, key.case_id, key.device, key.timing.empty() ? "not timed" : key.timing,
      key.attempt, key.repeat, first_line));
}

void each_results_row(
    std::istream& text, std::string_view name,
    const std::function<void(const ResultsColumns& columns, const CsvRow& row)>& visit) {
  std::optional<ResultsColumns> columns;
  each_csv_row(text, name, [&](const CsvRow& row) {
    if (columns) {
      columns->check(row);
      visit(*columns, row);
    } else {
      columns.emplace(name, row);
    }
  });
  if (!columns) throw UsageError(std::string(name) + ":1:1: no header");
  columns->check_header();  // checks the header even without rows
}

}  // namespace assay
