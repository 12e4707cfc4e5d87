#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/comparison.h"
#include "reports/page/render.h"

namespace assay::page {

/// One line of a table of ratios of times, above 1 is slower.
struct ForestRow {
  std::string name;
  std::string link;
  std::string detail;
  std::string verdict;  // "regressed"; also the class of its mark
  Ratio ratio;
  double margin = 0;
};

/// Returns the distance of a ratio from 1 in half widths of its interval: large is sure. -1 if it
/// has no interval.
double severity_of(const ForestRow& row);

/// Returns a table of the rows surely slower than the margin, then those without an interval beyond
/// it, then the most severe; at most `most` rows, each with its interval drawn on one axis for all.
/// Null without rows.
Json forest(std::string_view caption, std::string_view verdict_title, std::vector<ForestRow> rows,
            std::size_t most);

}  // namespace assay::page
