#pragma once

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
  std::string link;  // empty: none
};

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;
  bool is_joined = true;  // joins the points by a line, in the order of x
};

/// Bound of the points: a line through these places.
struct PlotLimit {
  std::string name;
  std::vector<std::pair<double, double>> places;
};

struct PlotAxis {
  std::string title;  // "compulsory traffic"
  std::string unit;   // "B"
  bool is_logarithmic = false;
};

/// A chart of rates. An axis of y that is not logarithmic begins at 0.
struct Plot {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;  // the first ones differ in colour and sign
  std::vector<PlotLimit> limits;
};

/// Draws an element of a page that has chart_style. Leaves out points that the axis cannot show,
/// such as 0 on a logarithmic axis, and thins out very many; the title says how many. Nothing if
/// none is left.
std::optional<std::string> plot_svg(const Plot& plot);

}  // namespace assay::page
