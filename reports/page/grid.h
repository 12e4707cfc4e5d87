#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reports/page/columns.h"

namespace assay::page {

/// All trials of one row in one column.
struct Cell {
  std::int64_t right = 0;
  std::int64_t wrong = 0;
  std::int64_t broken = 0;
  std::int64_t skipped = 0;
  std::int64_t expected = 0;        // failures accepted as known ones
  double error = -1;                // the worst error / allowed error; -1 where no bound applies
  const Record* worst = nullptr;    // by severity, then by that error
  std::size_t worst_row = 0;        // of the results.csv of its run
  const Record* largest = nullptr;  // of those with a rate, the one that tells most
  std::size_t largest_row = 0;

  std::int64_t total() const { return right + wrong + broken + skipped + expected; }
  void add(const Record& trial, std::size_t row);
};

struct GridCase {
  std::string case_id;
  std::vector<Cell> cells;  // of each column
};

struct GridOp {
  std::string suite;
  std::string op;
  std::vector<Cell> cells;
  std::vector<GridCase> cases;
};

/// Ops and cases against columns, in the order of their first trials.
std::vector<GridOp> make_grid(std::span<const RunSource> runs, const Columns& columns);

}  // namespace assay::page
