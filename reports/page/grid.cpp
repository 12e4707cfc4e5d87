#include "reports/page/grid.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace assay::page {
namespace {

/// Returns whether `record` must be seen before `other`.
bool is_worse(const Record& record, const Record& other) {
  const auto rank = [](const Record& trial) {
    return std::tuple(severity(trial), excess(trial), trial.max_bound_ratio.value_or(-1));
  };
  return rank(record) > rank(other);
}

}  // namespace

double excess(const Record& trial) {
  if (class_of(trial.status) != StatusClass::wrong) return 0;
  const double ratio = trial.max_bound_ratio.value_or(0);
  return ratio > 1 ? ratio : std::numeric_limits<double>::infinity();
}

void Cell::add(const Record& trial, std::size_t row) {
  if (!trial.expected_failure.empty()) {
    ++expected;
  } else {
    StatusCounts::add(trial.status);
  }
  // Exact results have no ratio.
  error = std::max(error, trial.max_bound_ratio.value_or(trial.elements ? 0 : -1));
  if (worst == nullptr || is_worse(trial, *worst)) {
    worst = &trial;
    worst_row = row;
  }
}

std::vector<GridOp> make_grid(std::span<const RunSource> runs, const Columns& columns) {
  std::vector<GridOp> grid;
  std::map<std::pair<std::string, std::string>, std::size_t> ops;
  std::map<std::pair<std::size_t, std::string>, std::size_t> cases;  // indices within an op
  std::vector<LargestCase> largest;                                  // one per op
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].trials.size(); ++i) {
      const Record& trial = runs[r].trials[i];
      const std::size_t column = columns.of(r, trial.device);
      const auto [op, is_new_op] = ops.try_emplace({trial.suite, trial.op}, grid.size());
      if (is_new_op) {
        grid.push_back({trial.suite, trial.op, std::vector<Cell>(columns.size()), {}});
        largest.emplace_back(columns.size());
      }
      GridOp& group = grid[op->second];
      const auto [entry, is_new_case] =
          cases.try_emplace({op->second, trial.case_id}, group.cases.size());
      if (is_new_case) {
        group.cases.push_back({trial.case_id, std::vector<Cell>(columns.size())});
      }
      group.cells[column].add(trial, runs[r].rows[i]);
      group.cases[entry->second].cells[column].add(trial, runs[r].rows[i]);
      largest[op->second].add({&trial, runs[r].rows[i]}, column);
    }
  }
  for (std::size_t i = 0; i < grid.size(); ++i) {
    grid[i].rates = largest[i].trials();
    grid[i].shown = any_of(grid[i].rates);
  }
  return grid;
}

}  // namespace assay::page
