#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/csv.h"
#include "kernels/core/status.h"

namespace assay {

/// Columns of one CSV text, found by their names. Errors are UsageError("NAME:LINE:COLUMN: why"),
/// LINE and COLUMN counted from 1.
class CsvHeader {
 public:
  static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

  /// `name` must outlive it. Throws for a column that is there twice.
  CsvHeader(std::string_view name, const CsvRow& header);

  const std::vector<std::string>& columns() const { return header_.fields; }
  /// Throws for a column that is not one of `valid`.
  void allow(std::span<const std::string> valid) const;
  /// Throws if the column is absent.
  void need(std::string_view column) const;
  /// Throws for a row that is wider or narrower than the header.
  void check_width(const CsvRow& row) const;

  /// Returns `absent` if the text has no such column.
  std::size_t place(std::string_view column) const;
  /// Returns no text if the column is absent.
  std::string cell(const CsvRow& row, std::string_view column) const;

  UsageError error(const CsvRow& row, std::size_t field, std::string_view why) const;

 private:
  std::string_view name_;
  CsvRow header_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace assay
