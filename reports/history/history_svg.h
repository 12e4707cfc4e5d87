#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "reports/history/history.h"

namespace assay {

/// Draws a panel for each series with points, those with changes first (the largest change first),
/// at most `panels` of them. Each has its points, the level of each segment, the range that each
/// change lies in, and marks at the foot for runs without a point.
struct HistoryChart {
  std::string document;
  std::size_t shown = 0;
  std::size_t left_out = 0;  // series with points that found no panel
};
HistoryChart history_svg(const History& history, std::size_t panels);

/// Draws the same panels, each a chart of its own for a page. `link_of` gives the target of a
/// point, by its row in history_csv; empty: none.
std::vector<std::string> history_panels(const History& history, std::size_t panels,
                                        const std::function<std::string(std::size_t row)>& link_of);

}  // namespace assay
