#include <fmt/format.h>

#include <algorithm>

#include "reports/chart/chart_axis.h"
#include "reports/page/cells.h"
#include "reports/page/charts.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr double bar_height = 20;
constexpr double bars_top = 22;
constexpr double bar_name_width = 118;
constexpr std::size_t rows_of_one_chart = 14;
constexpr std::size_t max_bars = 100;
constexpr double beyond_share = 1.05;  // of the limit: more than noise

struct Bar {
  const GridOp* op = nullptr;
  std::vector<std::optional<PlotPoint>> points;  // one per rated column; y is drawn
  double most = 0;
};

/// Bars that share an axis.
struct Bars {
  std::string heading;
  bool shares = false;  // of the limit; or else rates of `unit` on a logarithmic axis
  std::string unit;
  std::vector<Bar> rows;
};

std::optional<PlotPoint> point_in(const Content& content, const GridOp& op, std::size_t column,
                                  bool shares) {
  const auto& [trial, row] = op.rates[column];
  if (trial == nullptr) return std::nullopt;
  const Rate own = *rate(*trial);
  if (shares && !trial->fraction_of_limit) return std::nullopt;
  PlotPoint point = point_of(*trial, 0, shares ? *trial->fraction_of_limit : own.per_s);
  if (!(point.y > 0)) return std::nullopt;
  if (shares && trial->turns_with_limit) {  // not the interval of the time
    point.low = trial->fraction_ci_low.value_or(0);
    point.high = trial->fraction_ci_high.value_or(0);
  }
  point.tip = fmt::format("{} on {}: {}", trial->case_id, content.columns[column].label,
                          si(own.per_s, unit_of(own.kind)));
  if (trial->fraction_of_limit) {
    point.tip += fmt::format(", {:.0f}% of {}", 100 * *trial->fraction_of_limit, trial->limit);
  }
  point.link = row_link(content.columns[column].run, row);
  return point;
}

ChartAxis axis_of(const Bars& bars) {
  double low = 0;
  double high = 0;
  for (const Bar& bar : bars.rows) {
    for (const auto& point : bar.points) {
      if (!point) continue;
      low = low == 0 ? point->y : std::min(low, point->y);
      high = std::max(high, point->y);
    }
  }
  if (!bars.shares) return logarithmic_axis(low / 2, high, 5, bars.unit);
  ChartAxis axis{.low = 0, .high = std::clamp(1.04 * high, 1.04, 3.0)};
  for (double tick = 0; tick <= axis.high; tick += 0.5) {
    axis.ticks.push_back(tick);
    axis.labels.push_back(fmt::format("{:.0f}%", 100 * tick));
  }
  return axis;
}

class BarsDrawing {
 public:
  BarsDrawing(const Bars& bars, const std::vector<Look>& looks, const ChartAxis& axis,
              std::size_t from, std::size_t to)
      : bars_(bars), looks_(looks), axis_(axis), from_(from), to_(to) {}

  std::string draw() const {
    const double bottom = bars_top + bar_height * static_cast<double>(to_ - from_);
    Svg svg = Svg::fluid(bottom + 4, bars_.heading);
    for (std::size_t i = 0; i < axis_.ticks.size(); ++i) {
      const bool is_limit = bars_.shares && axis_.ticks[i] == 1;
      const double at = position(axis_.ticks[i]);
      svg.line(at, bars_top - 4, at, bottom, is_limit ? "limit" : "grid");
      svg.text(at, 11, is_limit ? "limit" : axis_.labels[i],
               is_limit ? "label limit-name" : "label", Svg::Anchor::middle);
    }
    for (std::size_t r = from_; r < to_; ++r) {
      draw_row(svg, bars_.rows[r], bars_top + (static_cast<double>(r - from_) + 0.5) * bar_height);
    }
    return svg.element();
  }

 private:
  double position(double value) const { return std::clamp(axis_.position(value), 0.0, 1.0); }

  void draw_row(Svg& svg, const Bar& bar, double y) const {
    const bool is_one = bar.points.size() == 1;
    svg.text(0, y + 4, bar.op->op, "name", Svg::Anchor::end, bar_name_width, -8);
    if (!is_one) svg.line(0, y, 1, y, "grid");
    for (std::size_t c = 0; c < bar.points.size(); ++c) {
      if (!bar.points[c]) continue;
      const PlotPoint& point = *bar.points[c];
      const bool is_beyond = bars_.shares && point.y > beyond_share;
      svg.begin_link(point.link);
      if (is_one && bars_.shares) {
        svg.rect(0, y - 6, position(point.y), 12, is_beyond ? "bar-beyond" : "bar", point.tip);
      } else {
        svg.mark(looks_[c].look, position(point.y), y, series_style(looks_[c].look), point.tip);
      }
      svg.end_link();
      if (point.low > 0) svg.line(position(point.low), y, position(point.high), y, "whisker");
      if (is_one) draw_figure(svg, *bar.op, point, y);
    }
  }

  void draw_figure(Svg& svg, const GridOp& op, const PlotPoint& point, double y) const {
    const std::string share = bars_.shares ? fmt::format(" · {:.0f}%", 100 * point.y) : "";
    svg.text(1, y + 4, rate_figure(*op.shown).value + share, "figure", Svg::Anchor::start, 0, 8);
  }

  const Bars& bars_;
  const std::vector<Look>& looks_;
  const ChartAxis& axis_;
  std::size_t from_;
  std::size_t to_;
};

/// Several charts of one axis, side by side where there is room.
Json charts_of(const Bars& bars, const std::vector<Look>& looks) {
  const ChartAxis axis = axis_of(bars);
  const std::size_t count = bars.rows.size();
  const std::size_t parts = count > rows_of_one_chart ? 2 : 1;
  Json charts = Json::array();
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t half = (count + parts - 1) / parts;
    charts.push_back(
        {{"chart",
          BarsDrawing(bars, looks, axis, i * half, std::min(count, (i + 1) * half)).draw()}});
  }
  return charts;
}

/// The columns that have a point in these bars.
std::vector<Look> looks_in(const Bars& bars, const std::vector<Look>& looks) {
  std::vector<Look> found;
  for (std::size_t c = 0; c < looks.size(); ++c) {
    const auto has_point = [&](const Bar& bar) { return bar.points[c].has_value(); };
    if (std::ranges::any_of(bars.rows, has_point)) found.push_back(looks[c]);
  }
  return found;
}

std::string subtitle_of(const Bars& bars, bool several) {
  std::string text =
      bars.shares ? "of the largest case" : "of the largest case, on a logarithmic axis";
  if (!several) text += "; line: 95% interval";
  const auto is_beyond = [](const Bar& bar) { return bar.most > beyond_share; };
  if (bars.shares && !several && std::ranges::any_of(bars.rows, is_beyond)) {
    text += "; brown: beyond the limit by more than noise";
  }
  return text;
}

/// Ops of all suites: those that have a limit share one axis, the others one for each unit.
std::vector<Bars> bars_of(const Content& content) {
  std::vector<Bars> all(3);
  all[0] = {.heading = "Share of the measured limit", .shares = true};
  all[1] = {.heading = "Bandwidth", .unit = std::string(unit_of(RateKind::data))};
  all[2] = {.heading = "Arithmetic", .unit = std::string(unit_of(RateKind::arithmetic))};
  for (const GridOp& op : content.grid) {
    if (op.shown == nullptr) continue;
    const bool shares = std::ranges::any_of(op.rates, [](const TrialRow& one) {
      return one.trial != nullptr && one.trial->fraction_of_limit.value_or(0) > 0;
    });
    Bars& bars = all[shares ? 0 : rate(*op.shown)->kind == RateKind::data ? 1 : 2];
    Bar bar{.op = &op};
    for (const std::size_t c : content.rated) {
      bar.points.push_back(point_in(content, op, c, shares));
      if (bar.points.back()) bar.most = std::max(bar.most, bar.points.back()->y);
    }
    if (bar.most > 0) bars.rows.push_back(std::move(bar));
  }
  if (!all[0].rows.empty()) {
    for (Bars& bars : all) bars.heading += bars.shares ? "" : " of ops without a limit";
  }
  std::erase_if(all, [](const Bars& bars) { return bars.rows.empty(); });
  return all;
}

}  // namespace

Json limit_bars(const Content& content) {
  const bool several = content.rated.size() > 1;
  std::vector<Look> looks;
  for (const std::size_t c : content.rated) looks.push_back({c, content.columns[c].label});
  Json made = Json::array();
  for (Bars& bars : bars_of(content)) {
    std::ranges::stable_sort(bars.rows, std::ranges::greater(), &Bar::most);
    std::string subtitle = subtitle_of(bars, several);
    if (bars.rows.size() > max_bars) {
      subtitle += fmt::format("; {} of {} ops", max_bars, bars.rows.size());
      bars.rows.resize(max_bars);
    }
    made.push_back({{"heading", bars.heading},
                    {"subtitle", subtitle},
                    {"style", several ? "bars marks" : "bars"},
                    {"legend", legend_of(looks_in(bars, looks))},
                    {"charts", charts_of(bars, looks)}});
  }
  return made;
}

}  // namespace assay::page
