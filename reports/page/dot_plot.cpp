#include "reports/page/dot_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/chart/chart_axis.h"
#include "reports/chart/svg.h"

namespace assay::page {
namespace {

constexpr double plot_width = 460;
constexpr double left = 170;
constexpr double right = plot_width - 14;
constexpr double line_height = 16;
constexpr double row_height = 17;

double highest(const DotPlot& plot) {
  double highest = 0;
  for (const DotRow& row : plot.rows) {
    for (const auto& point : row.points) {
      if (point) highest = std::max({highest, point->y, point->high});
    }
  }
  return highest > 0 ? highest : 1;
}

}  // namespace

std::string dot_plot_svg(const DotPlot& plot) {
  const ChartAxis axis = axis_from_zero(highest(plot), 5, plot.axis.unit);
  const double legend = plot.series.size() > 1 ? static_cast<double>(plot.series.size()) : 0;
  const double top = 40 + legend * line_height;
  const double bottom = top + static_cast<double>(plot.rows.size()) * row_height + 4;
  const auto x = [&](double value) { return left + axis.place(value) * (right - left); };
  const auto style = [](std::size_t series) {
    return fmt::format("s{}", series % Svg::series_colours);
  };

  Svg svg(plot_width, bottom + 22, plot.title);
  svg.text(12, 18, plot.title, "title", Svg::Anchor::start, plot_width - 24);
  for (std::size_t s = 0; s < static_cast<std::size_t>(legend); ++s) {
    const double y = 36 + static_cast<double>(s) * line_height;
    svg.mark(s, 17, y - 4, style(s));
    svg.text(26, y, plot.series[s], "label", Svg::Anchor::start, plot_width - 40);
  }
  svg.text(right, top - 6, plot.axis.title + " in " + axis.unit, "label", Svg::Anchor::end);
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double at = x(axis.ticks[i]);
    svg.line(at, top, at, bottom, "grid");
    svg.text(at, bottom + 15, axis.labels[i], "label", Svg::Anchor::middle);
  }
  for (std::size_t r = 0; r < plot.rows.size(); ++r) {
    const DotRow& row = plot.rows[r];
    const double y = top + (static_cast<double>(r) + 0.5) * row_height;
    svg.line(left, y, right, y, "grid");
    svg.text(left - 6, y + 4, row.name, "label", Svg::Anchor::end, left - 14);
    for (std::size_t s = 0; s < row.points.size(); ++s) {
      const auto& point = row.points[s];
      if (!point) continue;
      if (point->low > 0) {
        svg.line(x(point->low), y, x(point->high), y, style(s) + " spread");
      }
      if (!point->link.empty()) svg.begin_link(point->link);
      svg.mark(s, x(point->y), y, style(s), point->tip);
      if (!point->link.empty()) svg.end_link();
    }
  }
  return svg.element();
}

}  // namespace assay::page
