#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::page {

struct PlotPoint {
  double x = 0;
  double y = 0;
  double low = 0;  // interval of y; 0 if there is none
  double high = 0;
  std::string tip;
  std::string link;       // empty: none
  bool is_apart = false;  // not joined to others
};

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;
  bool is_joined = true;  // joins the points by a line, in the order of x, one of each size
  std::size_t look = 0;   // its colour and sign
};

/// Bound of rates: a line through these points. Its name would lie on points: a legend has it, or
/// the margin.
struct PlotLimit {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::string style;  // class of the line and the name: that of its series, or "limit"

  /// True if it ends at the right of the plot, where a name can stand beside it.
  bool is_flat() const { return points.front().second == points.back().second; }
};

/// A size at which something changes, such as a cache: a line across, with its name on top.
struct PlotStep {
  std::string name;
  double x = 0;
  std::string tip;
};

struct PlotAxis {
  std::string unit;  // "B"
  /// Values that the axis holds beside its points: a shared axis holds those of all its charts.
  std::vector<double> also = {};
};

/// A chart of rates with logarithmic axes. What they are stands beside it.
struct Plot {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;
  std::vector<PlotLimit> limits;
  std::vector<PlotStep> steps;
  double height = 150;  // of the part with the points, in pixels
  int max_ticks = 5;    // of the axis of x, for which there must be room
  /// Names of flat limits stand in the margin at the right, which the style leaves, a line apart.
  bool has_names_beside = false;
};

/// Class of the colour of a series.
std::string series_style(std::size_t series);

/// Draws an element as wide as its place. Leaves out points that the axes cannot show, such as 0,
/// and thins out very many; the title says how many. Nothing if none is left.
std::optional<std::string> plot_svg(const Plot& plot);

}  // namespace assay::page
