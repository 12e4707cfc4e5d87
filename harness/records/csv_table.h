#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"
#include "kernels/core/status.h"

// Tables: CSV texts whose first row names the columns. They are read and written by the fields of a
// type with `visit_fields`. Every error is UsageError("NAME:LINE:COLUMN: why"), LINE and COLUMN
// counted from 1.
namespace assay {

/// Demands on a table beyond unique columns and rows as wide as the header.
struct TableRules {
  std::vector<std::string> required;                // columns
  std::optional<std::vector<std::string>> allowed;  // columns; unless given, others are ignored
  std::optional<std::int64_t> newest_schema;        // of the column schema_version
};

/// One row of a table. Valid only while it is visited.
class TableRow {
 public:
  static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

  TableRow(std::string_view table, const CsvRow& header, const CsvRow& row)
      : table_(table), header_(header), row_(row) {}

  std::size_t line() const { return row_.line; }
  const std::vector<std::string>& columns() const { return header_.fields; }
  const std::vector<std::string>& cells() const { return row_.fields; }
  /// Returns `absent` if the table has no such column.
  std::size_t index_of(std::string_view column) const;

  UsageError error(std::size_t index, std::string_view why) const;
  /// Adds the column's name. An absent column is reported at the begin of the row.
  UsageError error(std::string_view column, std::string_view why) const;

 private:
  std::string_view table_;
  const CsvRow& header_;
  const CsvRow& row_;
};

/// Calls `visit` for each row below the header, in the memory of one row.
void each_table_row(std::istream& text, std::string_view name, const TableRules& rules,
                    const std::function<void(const TableRow&)>& visit);

/// Reads rows of one table into a type with `visit_fields`. Fields without a column stay as they
/// are.
template <class Row>
class RowReader {
 public:
  void read(const TableRow& cells, Row& row) {
    if (indices_.empty()) {
      for (const std::string& name : field_names<Row>()) indices_.push_back(cells.index_of(name));
    }
    auto next = indices_.begin();
    visit_fields(row, [&](std::string_view, auto& field) {
      const std::size_t index = *next++;
      if (index == TableRow::absent) return;
      try {
        from_cell(cells.cells()[index], field);
      } catch (const UsageError& wrong) {
        throw cells.error(cells.columns()[index], wrong.what());
      }
    });
  }

 private:
  std::vector<std::size_t> indices_;  // of the fields
};

/// Reads all rows. Calls `check(row, cells)` for each, which may throw `cells.error(...)`.
template <class Row>
std::vector<Row> read_table(
    std::istream& text, std::string_view name, const TableRules& rules,
    const std::function<void(Row&, const TableRow&)>& check = [](Row&, const TableRow&) {}) {
  std::vector<Row> rows;
  RowReader<Row> reader;
  each_table_row(text, name, rules, [&](const TableRow& cells) {
    reader.read(cells, rows.emplace_back());
    check(rows.back(), cells);
  });
  return rows;
}

/// Returns the first line of a table, with its end.
template <class Row>
std::string header_line() {
  return csv_line(field_names<Row>()) + "\n";
}

template <class Row>
std::string row_line(const Row& row) {
  return csv_line(field_cells(row)) + "\n";
}

/// Inverse of `read_table`.
template <class Row>
std::string write_table(const std::vector<Row>& rows) {
  std::string text = header_line<Row>();
  for (const Row& row : rows) text += row_line(row);
  return text;
}

}  // namespace assay
