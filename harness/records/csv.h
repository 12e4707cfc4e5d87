#pragma once

#include <functional>
#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/status.h"

namespace assay {

/// One record of a CSV text with its position (lines and columns count from 1).
struct CsvRow {
  std::size_t line = 0;
  std::vector<std::string> fields;
  std::vector<std::size_t> columns;  // of each field, counted from the row's start
  std::size_t begin = 0;             // offset of the row in the text
  std::size_t end = 0;               // offset behind its last field
};

/// Reads RFC 4180 text, including quoted fields with commas, quotes and line breaks. Hands each row
/// to `visit` as it ends, so memory holds only the longest row. Skips empty lines. Removes the
/// guard of csv_line() against formulas. Throws csv_error() on a malformed quote and a row of more
/// than 1,000 fields or 64 MiB, and UsageError("NAME: why") if the text cannot be read.
void each_csv_row(std::istream& text, std::string_view name,
                  const std::function<void(const CsvRow&)>& visit);

/// Reads all rows at once.
std::vector<CsvRow> read_csv(std::istream& text, std::string_view name);

/// Returns UsageError("NAME:LINE:COLUMN: why").
UsageError csv_error(std::string_view name, std::size_t line, std::size_t column,
                     std::string_view why);

/// Returns the error at the last field of a row that is not as wide as the header.
UsageError wrong_width(std::string_view name, const CsvRow& row, std::size_t width);

/// One RFC 4180 record without its line end: a field is quoted where it must be, and text that a
/// spreadsheet would compute is guarded (harness/records/formula_guard.h).
std::string csv_line(std::span<const std::string> fields);

}  // namespace assay
