#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/page/plot.h"

namespace assay::page {

struct DotRow {
  std::string name;
  /// Values of each series: y is the value, x is not read.
  std::vector<std::optional<PlotPoint>> points;
};

/// Values on one axis from 0, a line for each.
struct DotPlot {
  std::string title;
  PlotAxis axis;
  std::vector<std::string> series;
  std::vector<DotRow> rows;
};

std::string dot_plot_svg(const DotPlot& plot);

}  // namespace assay::page
