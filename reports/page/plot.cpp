#include "reports/page/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/chart/chart_axis.h"
#include "reports/chart/svg.h"

namespace assay::page {
namespace {

constexpr double plot_top = 22;
constexpr double axis_height = 20;       // below the plot
constexpr double name_height = 15;       // of the names of limits
constexpr std::size_t max_points = 150;  // limit for one series
/// Share of the width within which points are of one size: about that of a mark in a small chart.
/// A line between them would be upright, and show a trend where there is none.
constexpr double same_size = 0.025;

/// Extent of the points along one axis.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  void add(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool is_shown(double value) { return std::isfinite(value) && value > 0; }

class PlotDrawing {
 public:
  explicit PlotDrawing(Plot plot) : plot_(std::move(plot)), bottom_(plot_top + plot_.height) {}

  std::optional<std::string> draw() {
    keep_what_can_be_shown();
    if (plot_.series.empty()) return std::nullopt;
    lay_out();
    Svg svg = Svg::fluid(bottom_ + axis_height, plot_.title);
    draw_axes(svg);
    draw_steps(svg);
    draw_limits(svg);
    for (const PlotSeries& series : plot_.series) draw_series(svg, series);
    if (plot_.has_names_beside) draw_names(svg);
    return svg.element();
  }

 private:
  void keep_what_can_be_shown() {
    for (PlotSeries& series : plot_.series) {
      std::erase_if(series.points, [&](const PlotPoint& point) {
        return !is_shown(point.x) || !is_shown(point.y);
      });
      std::ranges::stable_sort(series.points, {}, &PlotPoint::x);
    }
    std::erase_if(plot_.series, [](const PlotSeries& series) { return series.points.empty(); });
    std::size_t all = 0;
    std::size_t kept = 0;
    for (PlotSeries& series : plot_.series) {
      all += series.points.size();
      thin(series);
      kept += series.points.size();
    }
    if (kept < all) plot_.title += fmt::format(" ({} of {} points)", kept, all);
  }

  /// Thins out points that cannot be told apart: keeps the lowest, the middle and the highest of
  /// each stretch of x.
  static void thin(PlotSeries& series) {
    if (series.points.size() <= max_points) return;
    std::vector<PlotPoint> kept;
    const std::size_t stretch = series.points.size() / (max_points / 3) + 1;
    for (std::size_t begin = 0; begin < series.points.size(); begin += stretch) {
      const auto first = series.points.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto count = std::min(stretch, series.points.size() - begin);
      const auto last = first + static_cast<std::ptrdiff_t>(count);
      std::sort(first, last, [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
      kept.push_back(*first);
      if (count > 2) kept.push_back(*(first + static_cast<std::ptrdiff_t>(count / 2)));
      if (count > 1) kept.push_back(*(last - 1));
    }
    series.points = std::move(kept);
    series.is_joined = false;
  }

  void lay_out() {
    Range xs;
    Range ys;
    for (const PlotSeries& series : plot_.series) {
      for (const PlotPoint& point : series.points) {
        xs.add(point.x);
        for (const double y : {point.y, point.low, point.high}) ys.add(y);
      }
    }
    for (const PlotLimit& limit : plot_.limits) {
      for (const auto& [x, y] : limit.points) {
        xs.add(x);
        ys.add(y);
      }
    }
    for (const double x : plot_.x.also) xs.add(x);
    for (const double y : plot_.y.also) ys.add(y);
    x_axis_ = logarithmic_axis(xs.low, xs.high, plot_.max_ticks, plot_.x.unit);
    y_axis_ = logarithmic_axis(ys.low, ys.high, 5, plot_.y.unit);
  }

  double x(double value) const { return std::clamp(x_axis_.position(value), 0.0, 1.0); }
  double y(double value) const {
    return bottom_ - std::clamp(y_axis_.position(value), 0.0, 1.0) * plot_.height;
  }

  void draw_axes(Svg& svg) const {
    for (std::size_t i = 0; i < y_axis_.ticks.size(); ++i) {
      const double at = y(y_axis_.ticks[i]);
      svg.line(0, at, 1, at, "grid");
      svg.text(0, at + 4, y_axis_.labels[i], "label", Svg::Anchor::end, 0, -6);
    }
    for (std::size_t i = 0; i < x_axis_.ticks.size(); ++i) {
      svg.text(x(x_axis_.ticks[i]), bottom_ + 15, x_axis_.labels[i], "label", Svg::Anchor::middle);
    }
    svg.line(0, bottom_, 1, bottom_, "grid");
  }

  void draw_steps(Svg& svg) const {
    for (const PlotStep& step : plot_.steps) {
      if (!is_shown(step.x) || x_axis_.position(step.x) < 0.02 || x_axis_.position(step.x) > 0.98)
        continue;
      svg.line(x(step.x), plot_top, x(step.x), bottom_, "step", step.tip);
      svg.text(x(step.x), 14, step.name, "label", Svg::Anchor::middle);
    }
  }

  void draw_limits(Svg& svg) const {
    for (const PlotLimit& limit : plot_.limits) {
      for (std::size_t i = 1; i < limit.points.size(); ++i) {
        svg.line(x(limit.points[i - 1].first), y(limit.points[i - 1].second),
                 x(limit.points[i].first), y(limit.points[i].second), limit.style + " roof",
                 limit.name);
      }
    }
  }

  /// Writes the names of flat limits beside their lines, from the highest down, each a line apart.
  void draw_names(Svg& svg) const {
    std::vector<const PlotLimit*> flat;
    for (const PlotLimit& limit : plot_.limits) {
      if (limit.is_flat()) flat.push_back(&limit);
    }
    std::ranges::stable_sort(flat, std::ranges::greater(),
                             [](const PlotLimit* limit) { return limit->points.back().second; });
    double last = -name_height;
    for (const PlotLimit* limit : flat) {
      last = std::max(last + name_height, y(limit->points.back().second) + 4);
      svg.text(1, last, limit->name, limit->style + " roof-name", Svg::Anchor::start, 0, 8);
    }
  }

  void draw_series(Svg& svg, const PlotSeries& series) const {
    const std::string style = series_style(series.look);
    const PlotPoint* last = nullptr;
    for (const PlotPoint& point : series.points) {
      if (!series.is_joined || point.is_apart) continue;
      if (last != nullptr) {
        if (x(point.x) - x(last->x) < same_size) continue;
        svg.line(x(last->x), y(last->y), x(point.x), y(point.y), style + " joined");
      }
      last = &point;
    }
    for (const PlotPoint& point : series.points) {
      // A mark hides shorter ones, and a page has thousands.
      if (point.low > 0 && y(point.low) - y(point.high) > Svg::least_mark_height) {
        svg.line(x(point.x), y(point.low), x(point.x), y(point.high), style + " spread");
      }
      if (!point.link.empty()) svg.begin_link(point.link);
      svg.mark(series.look, x(point.x), y(point.y), style, point.tip);
      if (!point.link.empty()) svg.end_link();
    }
  }

  Plot plot_;
  double bottom_;
  ChartAxis x_axis_;
  ChartAxis y_axis_;
};

}  // namespace

std::string series_style(std::size_t series) {
  return fmt::format("s{}", series % Svg::series_colours);
}

std::optional<std::string> plot_svg(const Plot& plot) { return PlotDrawing(plot).draw(); }

}  // namespace assay::page
