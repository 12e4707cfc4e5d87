#include "reports/page/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/chart/chart_axis.h"
#include "reports/chart/svg.h"

namespace assay::page {
namespace {

constexpr double width = 460;
constexpr double left = 58;
constexpr double right = width - 14;
constexpr double plot_height = 180;
constexpr double line_height = 16;
constexpr double letter_width = 6.8;
constexpr std::size_t max_points = 150;  // limit for one series

/// Extent of the points along one axis.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool is_shown(double value, const PlotAxis& axis) {
  return std::isfinite(value) && (axis.is_logarithmic ? value > 0 : value >= 0);
}

ChartAxis axis_of(const PlotAxis& axis, const Range& range, int most) {
  if (axis.is_logarithmic) return logarithmic_axis(range.low, range.high, most, axis.unit);
  return axis_from_zero(range.high > 0 ? range.high : 1, most, axis.unit);
}

std::string axis_title(const PlotAxis& axis, const ChartAxis& drawn) {
  return drawn.unit.empty() ? axis.title : axis.title + " in " + drawn.unit;
}

class Drawing {
 public:
  explicit Drawing(Plot plot) : plot_(std::move(plot)) {}

  std::optional<std::string> draw() {
    keep_what_can_be_shown();
    if (plot_.series.empty()) return std::nullopt;
    lay_out();
    Svg svg(width, bottom_ + 40, plot_.title);
    svg.text(12, 18, plot_.title, "title", Svg::Anchor::start, width - 24);
    draw_legend(svg);
    draw_axes(svg);
    draw_limits(svg);
    for (std::size_t i = 0; i < plot_.series.size(); ++i) draw_series(svg, i);
    return svg.element();
  }

 private:
  struct Key {
    double x;
    double y;
  };

  void keep_what_can_be_shown() {
    for (PlotSeries& series : plot_.series) {
      std::erase_if(series.points, [&](const PlotPoint& point) {
        return !is_shown(point.x, plot_.x) || !is_shown(point.y, plot_.y);
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
        for (const double y : {point.y, point.low, point.high}) {
          if (y > 0) ys.add(y);
        }
      }
    }
    for (const PlotLimit& limit : plot_.limits) {
      for (const auto& [x, y] : limit.places) {
        if (plot_.x.is_logarithmic) xs.add(x);
        ys.add(y);
      }
    }
    x_axis_ = axis_of(plot_.x, xs, 7);
    y_axis_ = axis_of(plot_.y, ys, 6);
    // Names of the series, as many in a line as fit.
    double x = 12;
    double y = 36;
    const auto place = [&](const std::string& name) {
      const double needed = 22 + letter_width * static_cast<double>(name.size());
      if (x > 12 && x + needed > width - 8) {
        x = 12;
        y += line_height;
      }
      keys_.push_back({x, y});
      x += needed;
    };
    for (const PlotSeries& series : plot_.series) place(series.name);
    for (const PlotLimit& limit : plot_.limits) place(limit.name);
    top_ = y + 26;
    bottom_ = top_ + plot_height;
  }

  double x(double value) const { return left + x_axis_.place(value) * (right - left); }
  double y(double value) const {
    return bottom_ - std::clamp(y_axis_.place(value), 0.0, 1.0) * (bottom_ - top_);
  }
  static std::string style(std::size_t series) {
    return fmt::format("s{}", series % Svg::series_colours);
  }

  void draw_legend(Svg& svg) const {
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      svg.mark(i, keys_[i].x + 5, keys_[i].y - 4, style(i));
      svg.text(keys_[i].x + 14, keys_[i].y, plot_.series[i].name, "label", Svg::Anchor::start,
               width - 40);
    }
    for (std::size_t i = 0; i < plot_.limits.size(); ++i) {
      const Key& key = keys_[plot_.series.size() + i];
      svg.line(key.x, key.y - 4, key.x + 11, key.y - 4, "limit");
      svg.text(key.x + 14, key.y, plot_.limits[i].name, "label", Svg::Anchor::start, width - 40);
    }
  }

  void draw_axes(Svg& svg) const {
    for (std::size_t i = 0; i < y_axis_.ticks.size(); ++i) {
      const double at = y(y_axis_.ticks[i]);
      svg.line(left, at, right, at, "grid");
      svg.text(left - 6, at + 4, y_axis_.labels[i], "label", Svg::Anchor::end);
    }
    for (std::size_t i = 0; i < x_axis_.ticks.size(); ++i) {
      const double at = x(x_axis_.ticks[i]);
      svg.line(at, top_, at, bottom_, "grid");
      svg.text(at, bottom_ + 16, x_axis_.labels[i], "label", Svg::Anchor::middle);
    }
    svg.text(12, top_ - 8, axis_title(plot_.y, y_axis_), "label");
    svg.text(right, bottom_ + 33, axis_title(plot_.x, x_axis_), "label", Svg::Anchor::end);
  }

  void draw_limits(Svg& svg) const {
    for (const PlotLimit& limit : plot_.limits) {
      std::vector<std::pair<double, double>> places;
      for (const auto& [at, value] : limit.places) places.emplace_back(x(at), y(value));
      svg.path(places, "limit");
    }
  }

  void draw_series(Svg& svg, std::size_t i) const {
    const PlotSeries& series = plot_.series[i];
    if (series.is_joined && series.points.size() > 1) {
      std::vector<std::pair<double, double>> places;
      for (const PlotPoint& point : series.points) places.emplace_back(x(point.x), y(point.y));
      svg.path(places, style(i) + " joined");
    }
    for (const PlotPoint& point : series.points) {
      if (point.low > 0) {
        svg.line(x(point.x), y(point.low), x(point.x), y(point.high), style(i) + " spread");
      }
      if (!point.link.empty()) svg.begin_link(point.link);
      svg.mark(i, x(point.x), y(point.y), style(i), point.tip);
      if (!point.link.empty()) svg.end_link();
    }
  }

  Plot plot_;
  ChartAxis x_axis_;
  ChartAxis y_axis_;
  std::vector<Key> keys_;  // keys of the series, then of the limits
  double top_ = 0;
  double bottom_ = 0;
};

}  // namespace

std::optional<std::string> plot_svg(const Plot& plot) { return Drawing(plot).draw(); }

}  // namespace assay::page
