#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/chart/svg.h"
#include "reports/page/content.h"
#include "reports/page/plot.h"

// The charts of a page. Each is {heading, subtitle, legend, chart}.
namespace assay::page {

/// Limit on the series: more cannot be told apart.
inline constexpr std::size_t max_series = Svg::mark_shapes;

PlotPoint point_of(const Record& trial, double x, double y);

/// Returns the best value of a limit of a device.
std::optional<double> limit_value(const RunSource& run, std::string_view device, LimitKind kind);

/// Draws each op of a suite at the case that represents it: as share of its limit, or, of those
/// without one, its rate on a logarithmic axis.
Json limit_bars(const Content& content);

/// Draws rates against size as small multiples by op and dtype; those of a suite share their axes:
/// {suite, panels, folded}. Panels are of ops timed at three sizes or more.
Json sweeps(const Content& content);

/// Draws all arithmetic of a device against operations per byte, under its measured limits; null if
/// it has none.
Json roofline(const Content& content, std::size_t column);

/// A series in a legend: its sign and colour, and its name.
struct Look {
  std::size_t look = 0;
  std::string name;

  auto operator<=>(const Look&) const = default;
};
/// {chart, name} of each, none for one series, and of the limits whose names are not beside the
/// plot.
Json legend_of(const std::vector<Look>& looks, const Plot& plot = {});

}  // namespace assay::page
