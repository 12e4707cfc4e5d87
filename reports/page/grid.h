#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reports/page/columns.h"
#include "reports/text/largest_case.h"
#include "reports/text/status_counts.h"

namespace assay::page {

/// Returns how far a failure is beyond the allowed error. One whose error has no measure, such as a
/// NaN, is beyond all others. 0 for other results.
double excess(const Record& trial);

/// All trials of one row in one column.
struct Cell : StatusCounts {
  std::int64_t expected = 0;      // failures accepted as known ones
  double error = -1;              // the worst error / allowed error; -1 if nothing was judged
  const Record* worst = nullptr;  // by severity, then by excess
  std::size_t worst_row = 0;      // row in the results.csv of its run

  std::int64_t total() const { return right + wrong + broken + skipped + expected; }
  bool is_plain() const { return right == total(); }
  void add(const Record& trial, std::size_t row);
};

struct GridCase {
  std::string case_id;
  std::vector<Cell> cells;  // one per column
};

struct GridOp {
  std::string suite;
  std::string op;
  std::vector<Cell> cells;
  std::vector<GridCase> cases;
  /// The case that represents the op (LargestCase). Null if the op has no rate.
  const Record* shown = nullptr;
  std::vector<TrialRow> rates;  // rates of that case in each column

  /// Returns "tensor_ops/exp", or the suite alone if its one op has its name.
  std::string name() const { return op == suite ? suite : suite + "/" + op; }
};

/// Ops and cases against columns, in the order of their first trials.
std::vector<GridOp> make_grid(std::span<const RunSource> runs, const Columns& columns);

}  // namespace assay::page
