#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "harness/records/csv_header.h"
#include "harness/records/fields_text.h"
#include "harness/records/record.h"
#include "kernels/core/status.h"

namespace assay {

/// Columns of one results.csv.
class ResultsColumns : public CsvHeader {
 public:
  ResultsColumns(std::string_view name, const CsvRow& header);

  /// Throws UsageError if the key of a record or its status has no column.
  void check_header() const;
  /// Throws UsageError for a row of a newer schema, and for one that is wider or narrower than the
  /// header.
  void check(const CsvRow& row) const;

  /// Reads the cell as a value; `field` stays as it is if the column is absent.
  template <class T>
  void read(const CsvRow& row, std::string_view column, std::size_t place, T& field) const {
    if (place == absent) return;
    try {
      from_cell(row.fields[place], field);
      check_time(column, field);
    } catch (const UsageError& wrong) {
      throw error(row, place, std::string(column) + ": " + wrong.what());
    }
  }

  /// Throws UsageError if the interval of a time ends below its begin.
  void check_interval(const CsvRow& row, std::optional<double> low,
                      std::optional<double> high) const;

 private:
  /// Refuses a time of 0 or less: no clock measured it, and it gives no rate.
  template <class T>
  static void check_time(std::string_view column, const T& field) {
    if constexpr (std::same_as<T, std::optional<double>>) {
      const bool is_time = column.starts_with("time_") && column.ends_with("_s");
      if (is_time && field && !(*field > 0)) throw UsageError("must be above 0");
    }
  }
  void check_schema(const CsvRow& row) const;

  std::size_t schema_at_;
  std::size_t low_at_;
  std::optional<UsageError> missing_;  // thrown after the check of the schema
};

/// Returns the error of a repeated key: "NAME:LINE:1: a second row of CASE on DEVICE (...)".
UsageError second_row(std::string_view name, std::size_t line, std::size_t first_line,
                      const Record& key);

/// Passes each row of a results.csv to `visit` after its check, in the memory of one row. Throws
/// UsageError("NAME:LINE:COLUMN: why").
void each_results_row(
    std::istream& text, std::string_view name,
    const std::function<void(const ResultsColumns& columns, const CsvRow& row)>& visit);

}  // namespace assay
