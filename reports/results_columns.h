#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "harness/csv.h"
#include "harness/fields_text.h"
#include "kernels/base/status.h"

namespace assay {

/// Where the columns of one results.csv stand, found once.
class ResultsColumns {
 public:
  static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

  ResultsColumns(std::string_view name, const CsvRow& header);

  /// `absent` where the file has no such column.
  std::size_t place(std::string_view column) const;

  /// Throws UsageError where the key of a record or its status has no column.
  void check_header() const;
  /// Throws UsageError for a row of a newer schema, and for one that is wider or narrower than the
  /// header.
  void check(const CsvRow& row) const;

  /// The cell as a value; `field` stays as it is where the column is absent.
  template <class T>
  void read(const CsvRow& row, std::string_view column, std::size_t place, T& field) const {
    if (place == absent) return;
    try {
      from_cell(row.fields[place], field);
    } catch (const UsageError& wrong) {
      throw error(row, place, std::string(column) + ": " + wrong.what());
    }
  }

  /// "NAME:LINE:COLUMN: why".
  UsageError error(const CsvRow& row, std::size_t field, const std::string& why) const;

 private:
  void check_schema(const CsvRow& row) const;

  std::string_view name_;
  std::size_t width_;
  std::unordered_map<std::string, std::size_t> places_;
  std::size_t schema_at_ = absent;
  std::optional<UsageError> missing_;  // thrown after the schema was looked at
};

/// Hands each row of a results.csv to `visit` once it is checked, in the memory of one row. Throws
/// UsageError("NAME:LINE:COLUMN: why").
void each_results_row(
    std::istream& text, std::string_view name,
    const std::function<void(const ResultsColumns& columns, const CsvRow& row)>& visit);

}  // namespace assay
