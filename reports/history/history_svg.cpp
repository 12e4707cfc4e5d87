#include "reports/history/history_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "harness/statistics/order_statistics.h"
#include "reports/chart/chart_axis.h"
#include "reports/chart/svg.h"
#include "reports/text/si.h"

namespace assay {
namespace {

constexpr double panel_width = 480;
constexpr double panel_height = 228;
constexpr double header_height = 56;
constexpr std::size_t panels_across = 2;
// Place of the plot within its panel.
constexpr double left = 64;
constexpr double right = panel_width - 20;
constexpr double top = 66;
constexpr double bottom = panel_height - 34;

class Panel {
 public:
  using LinkOf = std::function<std::string(std::size_t entry)>;

  Panel(Svg& svg, const History& history, const HistorySeries& series, LinkOf link_of = {})
      : svg_(svg), history_(history), series_(series), link_of_(std::move(link_of)) {
    const std::vector<double> values = series.values();
    const auto [low, high] = std::ranges::minmax(values);
    axis_ = chart_axis(low, high, 5, history.relative ? "" : "s");
  }

  void draw() const {
    draw_titles();
    draw_axes();
    for (const HistoryChange& change : series_.changes) draw_range(change);
    draw_entries();
    draw_levels();
    for (const HistoryChange& change : series_.changes) draw_label(change);
  }

 private:
  /// Places runs equally far apart, whatever their dates.
  double x(double entry) const {
    return left + (entry + 0.5) * (right - left) / static_cast<double>(series_.entries.size());
  }
  double y(double value) const { return bottom - axis_.position(value) * (bottom - top); }
  double x_of_point(std::size_t i) const { return x(static_cast<double>(series_.points[i])); }
  /// Returns the middle between a point and the one before it.
  double x_before_point(std::size_t i) const { return (x_of_point(i - 1) + x_of_point(i)) / 2; }
  const StoredRun& run(const HistoryEntry& entry) const { return history_.runs[entry.run]; }

  void draw_titles() const {
    const SeriesKey& key = series_.key;
    svg_.text(12, 20, key.case_id, "title", Svg::Anchor::start, panel_width - 24);
    svg_.text(12, 36,
              fmt::format("{} on {}, {}{}{}{}{}", key.device, key.host, key.timing,
                          key.device_name.empty() ? "" : ", ", key.device_name,
                          key.settings.empty() ? "" : ", ", key.settings),
              "label", Svg::Anchor::start, panel_width - 24);
  }

  void draw_axes() const {
    for (std::size_t i = 0; i < axis_.ticks.size(); ++i) {
      const double at = y(axis_.ticks[i]);
      svg_.line(left, at, right, at, "grid");
      svg_.text(left - 6, at + 4, axis_.labels[i], "label", Svg::Anchor::end);
    }
    svg_.text(12, top - 8, history_.relative ? "time / reference" : "time in " + axis_.unit,
              "label");
    const std::string& first = run(series_.entries.front()).started_at;
    const std::string& last = run(series_.entries.back()).started_at;
    // Shows dates, or "2026-05-04T13:02" if all runs are of one day.
    const std::size_t shown = first.substr(0, 10) == last.substr(0, 10) ? 16 : 10;
    svg_.text(left, panel_height - 12, first.substr(0, shown), "label");
    svg_.text(right, panel_height - 12, last.substr(0, shown), "label", Svg::Anchor::end);
    svg_.text((left + right) / 2, panel_height - 12, fmt::format("{} runs", series_.entries.size()),
              "label", Svg::Anchor::middle);
  }

  void draw_range(const HistoryChange& change) const {
    const double from = x_of_point(change.at.earliest - 1);
    const double to = x_of_point(change.at.latest);
    svg_.rect(from, top, to - from, bottom - top, "range",
              fmt::format("the change lies between {} ({}) and {} ({})",
                          run(series_.last_before(change)).run_id,
                          run(series_.last_before(change)).git_revision,
                          run(series_.first_after(change)).run_id,
                          run(series_.first_after(change)).git_revision));
  }

  void draw_entries() const {
    for (std::size_t i = 0; i < series_.entries.size(); ++i) {
      const HistoryEntry& entry = series_.entries[i];
      const double at = x(static_cast<double>(i));
      const std::string of_run =
          fmt::format("{} ({}): ", run(entry).run_id, run(entry).git_revision);
      if (entry.value) {
        if (link_of_) svg_.begin_link(link_of_(i));
        svg_.circle(at, y(*entry.value), 2.5, "point",
                    of_run + fmt::format("{:.6g}{}", *entry.value, history_.relative ? "" : " s"));
        if (link_of_) svg_.end_link();
      } else {
        svg_.line(at, bottom - 6, at, bottom, "gap", of_run + entry.missing);
      }
    }
  }

  void draw_levels() const {
    for (std::size_t i = 0; i <= series_.changes.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : series_.changes[i - 1].at.index;
      const std::size_t end =
          i == series_.changes.size() ? series_.points.size() : series_.changes[i].at.index;
      const double level = series_.changes.empty() ? statistics::median(series_.values())
                           : i == 0                ? series_.changes.front().before
                                                   : series_.changes[i - 1].after;
      svg_.line(begin == 0 ? left : x_before_point(begin), y(level),
                end == series_.points.size() ? right : x_before_point(end), y(level), "level");
    }
  }

  void draw_label(const HistoryChange& change) const {
    svg_.text(std::clamp(x_before_point(change.at.index), left + 40, right - 40), top - 4,
              change_text(change.ratio()), "change", Svg::Anchor::middle);
  }

  Svg& svg_;
  const History& history_;
  const HistorySeries& series_;
  LinkOf link_of_;
  ChartAxis axis_;
};

double largest_change(const HistorySeries& series) {
  double largest = 0;
  for (const HistoryChange& change : series.changes) {
    largest = std::max(largest, std::abs(std::log(change.ratio())));
  }
  return largest;
}

/// Returns the series with points: those with changes first, the largest first.
std::vector<const HistorySeries*> in_order(const History& history) {
  std::vector<const HistorySeries*> all;
  for (const HistorySeries& series : history.series) {
    if (!series.points.empty()) all.push_back(&series);
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const HistorySeries* series) { return largest_change(*series); });
  return all;
}

}  // namespace

HistoryChart history_svg(const History& history, std::size_t panels) {
  std::vector<const HistorySeries*> all = in_order(history);
  HistoryChart chart{.shown = std::min(panels, all.size())};
  chart.left_out = all.size() - chart.shown;
  all.resize(chart.shown);
  const std::size_t rows = (chart.shown + panels_across - 1) / panels_across;
  const std::string title =
      fmt::format("{} of {} series{}", chart.shown, chart.shown + chart.left_out,
                  history.relative ? ", as ratios to the reference build; smaller is faster"
                                   : " in absolute times; smaller is faster, and machines drift");
  Svg svg(panels_across * panel_width, header_height + static_cast<double>(rows) * panel_height,
          title);
  svg.text(12, 24, title, "title", Svg::Anchor::start, panels_across * panel_width - 24);
  svg.text(12, 42,
           "A line is the median of a level, the shaded part is where it changed (95%), a red mark "
           "at the foot is a run without a point.",
           "label");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t row = i / panels_across;
    const std::size_t column = i % panels_across;
    svg.begin_part(static_cast<double>(column) * panel_width,
                   header_height + static_cast<double>(row) * panel_height);
    Panel(svg, history, *all[i]).draw();
    svg.end_part();
  }
  chart.document = svg.document();
  return chart;
}

std::vector<std::string> history_panels(
    const History& history, std::size_t panels,
    const std::function<std::string(std::size_t row)>& link_of) {
  std::map<const HistorySeries*, std::size_t> first_rows;
  std::size_t row = 0;
  for (const HistorySeries& series : history.series) {
    first_rows[&series] = row;
    row += series.entries.size();
  }
  std::vector<const HistorySeries*> all = in_order(history);
  all.resize(std::min(panels, all.size()));
  std::vector<std::string> charts;
  for (const HistorySeries* series : all) {
    const std::size_t first = first_rows.at(series);
    Svg svg(panel_width, panel_height,
            fmt::format("{} on {}: {} runs, {} changes", series->key.case_id, series->key.device,
                        series->entries.size(), series->changes.size()));
    Panel(svg, history, *series, [&](std::size_t entry) { return link_of(first + entry); }).draw();
    charts.push_back(svg.element());
  }
  return charts;
}

}  // namespace assay
