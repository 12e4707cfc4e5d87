#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/records/csv.h"

namespace assay {

/// One column of a CSV file that is made from rows of one type.
template <class Row>
struct CsvColumn {
  const char* name;
  std::function<std::string(const Row&)> cell;
};

template <class Row>
std::vector<std::string> column_names(const std::vector<CsvColumn<Row>>& columns) {
  std::vector<std::string> all;
  for (const CsvColumn<Row>& column : columns) all.emplace_back(column.name);
  return all;
}

/// Returns the row with its line end.
template <class Row>
std::string csv_row(const std::vector<CsvColumn<Row>>& columns, const Row& row) {
  std::vector<std::string> cells;
  for (const CsvColumn<Row>& column : columns) cells.push_back(column.cell(row));
  return csv_line(cells) + "\n";
}

}  // namespace assay
