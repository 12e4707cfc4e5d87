#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "reports/page/chart_points.h"
#include "reports/page/dot_plot.h"
#include "reports/page/sections.h"
#include "reports/rate.h"
#include "reports/si.h"

namespace assay::page {
namespace {

constexpr std::size_t max_dot_rows = 100;
constexpr std::size_t max_charts = 60;  // limit for one suite

/// Collects the timed trials of each op; those of launches back to back if there are any.
std::map<std::pair<std::string, std::string>, std::vector<Shown>> shown_of(const Content& content) {
  std::map<std::pair<std::string, std::string>, std::vector<Shown>> shown;
  const std::vector<RunSource>& runs = content.input.runs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].trials.size(); ++i) {
      const Record& trial = runs[r].trials[i];
      if (!rate(trial)) continue;
      shown[{trial.suite, trial.op}].push_back(
          {&trial, runs[r].rows[i], content.columns.of(r, trial.device)});
    }
  }
  for (auto& [op, trials] : shown) {
    const auto is_batch = [](const Shown& one) { return one.trial->timing == batch_timing; };
    if (std::ranges::any_of(trials, is_batch)) std::erase_if(trials, std::not_fn(is_batch));
  }
  return shown;
}

void drop_empty_series(DotPlot& plot) {
  for (std::size_t s = plot.series.size(); s-- > 0;) {
    const auto at = static_cast<std::ptrdiff_t>(s);
    if (std::ranges::any_of(plot.rows,
                            [&](const DotRow& row) { return row.points[s].has_value(); })) {
      continue;
    }
    plot.series.erase(plot.series.begin() + at);
    for (DotRow& row : plot.rows) row.points.erase(row.points.begin() + at);
  }
}

/// Draws each op of a suite at the case that represents it, those with the same unit on one axis.
std::vector<std::string> dot_plots(const Content& content, const std::string& suite) {
  std::vector<DotPlot> plots;
  for (const GridOp& op : content.grid) {
    if (op.suite != suite || op.shown == nullptr) continue;
    const std::string_view unit = rate(*op.shown)->unit;
    auto plot = std::ranges::find(plots, unit, [](const DotPlot& one) { return one.axis.unit; });
    if (plot == plots.end()) {
      plots.push_back({.title = suite + ": each op at one case",
                       .axis = {unit == "FLOP/s" ? "arithmetic" : "bandwidth", std::string(unit)}});
      plot = plots.end() - 1;
      for (const Column& column : content.columns.all()) plot->series.push_back(column.label);
    }
    DotRow row{op.op, std::vector<std::optional<PlotPoint>>(op.rates.size())};
    for (std::size_t c = 0; c < op.rates.size(); ++c) {
      const auto& [trial, place] = op.rates[c];
      if (trial == nullptr) continue;
      PlotPoint point = point_of({trial, place, c}, 0, rate(*trial)->per_s);
      point.tip = fmt::format("{}: {}", trial->case_id, si(point.y, unit));
      point.link = row_link(content.columns[c].run, place);
      row.points[c] = std::move(point);
    }
    plot->rows.push_back(std::move(row));
  }
  std::vector<std::string> charts;
  for (DotPlot& plot : plots) {
    if (plot.rows.size() < 2) continue;
    if (plot.rows.size() > max_dot_rows) {
      plot.title += fmt::format(" ({} of {} ops)", max_dot_rows, plot.rows.size());
      plot.rows.resize(max_dot_rows);
    }
    drop_empty_series(plot);
    charts.push_back(dot_plot_svg(plot));
  }
  return charts;
}

void add_together(Html& html, std::string_view title, const std::vector<std::string>& charts) {
  if (charts.empty()) return;
  html.element("h3", title);
  html.begin("div", {{"class", "charts"}});
  for (const std::string& chart : charts) html.raw(chart);
  html.end("div");
}

}  // namespace

void add_charts(Html& html, const Content& content) {
  const auto shown = shown_of(content);
  if (shown.empty()) return;
  const Part part(html, "charts", "Charts");
  html.element("p",
               "Each point is the median time of one case, of launches back to back if there are "
               "any, and links to its row. A bar through it is the 95% interval of the median. A "
               "dashed line is the measured limit of the largest case; arrays that fit a cache may "
               "exceed a limit of memory. Charts against size have the ops that were timed at "
               "three sizes or more.");
  std::vector<std::string> suites;
  for (const GridOp& op : content.grid) {
    if (std::ranges::find(suites, op.suite) == suites.end()) suites.push_back(op.suite);
  }
  for (const std::string& suite : suites) {
    std::vector<std::string> charts = dot_plots(content, suite);
    for (const GridOp& op : content.grid) {
      const auto found = shown.find({op.suite, op.op});
      if (op.suite != suite || found == shown.end()) continue;
      if (charts.size() == max_charts) break;
      if (auto chart = op_chart(content, op, found->second)) {
        charts.push_back(std::move(*chart));
      }
    }
    add_together(html, suite, charts);
  }
  std::vector<std::string> rooflines;
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (auto chart = roofline(content, c)) rooflines.push_back(std::move(*chart));
  }
  add_together(html, "Roofline", rooflines);
}

}  // namespace assay::page
