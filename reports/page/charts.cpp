#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "kernels/base/names.h"
#include "reports/page/dot_plot.h"
#include "reports/page/sections.h"
#include "reports/rate.h"
#include "reports/si.h"
#include "reports/svg.h"

namespace assay::page {
namespace {

constexpr std::size_t most_series = Svg::mark_shapes;
/// With fewer there is no curve to look at; the figures are in the table of rates.
constexpr std::size_t fewest_sizes = 3;
constexpr std::size_t most_dot_rows = 100;
constexpr std::size_t most_charts = 60;  // of a suite

struct Shown {
  const Record* trial;
  std::size_t row;
  std::size_t column;
};

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The parameters of a trial, "name=value" each, of those that are sizes or of the others. Ranks
/// are no size.
std::vector<std::string> parameters(const Record& trial, bool sizes) {
  std::vector<std::string> found = split(trial.params, ';');
  std::erase_if(found, [&](const std::string& assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) return true;
    const bool is_size =
        is_number(assignment.substr(equals + 1)) && !assignment.starts_with("ranks=");
    return is_size != sizes;
  });
  return found;
}

/// What tells trials of one op apart beside their sizes: dtype, words among the parameters, ranks.
std::string kind_of(const Record& trial) {
  std::vector<std::string> words = parameters(trial, false);
  words.insert(words.begin(), trial.dtype);
  if (trial.timing != batch_timing) words.push_back(trial.timing);
  return join(words, " ");
}

/// By how many bytes or operations a second, as the unit says.
double per_second(const Record& trial, std::string_view unit) {
  if (unit == "FLOP/s") return trial.flops_per_s.value_or(0);
  return trial.busbw_bytes_per_s.value_or(
      trial.algbw_bytes_per_s.value_or(trial.bandwidth_bytes_per_s.value_or(0)));
}

PlotPoint point_of(const Shown& shown, double x, double y) {
  const Record& trial = *shown.trial;
  PlotPoint point{.x = x, .y = y};
  if (trial.time_median_s && trial.time_ci_low_s.value_or(0) > 0 && trial.time_ci_high_s) {
    point.low = y * *trial.time_median_s / *trial.time_ci_high_s;
    point.high = y * *trial.time_median_s / *trial.time_ci_low_s;
  }
  return point;
}

/// The best value of a limit of a device.
std::optional<double> limit_value(const RunSource& run, std::string_view device,
                                  std::string_view name, std::string_view unit) {
  std::optional<double> best;
  for (const Limit& limit : run.limits) {
    if (limit.device != device || limit.limit != name || limit.unit != unit || !limit.value)
      continue;
    best = std::max(best.value_or(0), *limit.value);
  }
  return best;
}

/// Trials of an op as series: by column where there are several, else by what tells them apart.
class OpChart {
 public:
  OpChart(const Content& content, const GridOp& op, std::vector<Shown> shown)
      : content_(content), op_(op), shown_(std::move(shown)) {
    const Record* largest = nullptr;
    std::set<std::size_t> columns;
    for (const Shown& one : shown_) {
      columns.insert(one.column);
      if (largest == nullptr || tells_more(*one.trial, *largest)) largest = one.trial;
    }
    unit_ = rate(*largest)->unit;
    by_column_ = columns.size() > 1;
    if (by_column_) keep_common_kind(kind_of(*largest));
  }

  std::optional<std::string> svg() const {
    Plot plot{.title = op_.name()};
    if (by_column_) {
      plot.title += " " + kind_;
    } else if (content_.columns[shown_.front().column].is_simulated) {
      plot.title += " (simulated)";
    }
    const bool is_arithmetic = unit_ == "FLOP/s";
    plot.x = {is_arithmetic ? "operations of a launch" : "bytes of a launch",
              is_arithmetic ? "FLOP" : "B", true};
    const bool is_bus = std::ranges::any_of(
        shown_, [](const Shown& one) { return one.trial->busbw_bytes_per_s.has_value(); });
    plot.y = {is_arithmetic ? "arithmetic"
              : is_bus      ? "bus bandwidth"
                            : "bandwidth",
              std::string(unit_)};
    std::map<std::string, Kind> kinds;
    for (const Shown& one : shown_) {
      const double x = (is_arithmetic ? one.trial->flops : one.trial->bytes).value_or(0);
      PlotPoint point = point_of(one, x, per_second(*one.trial, unit_));
      point.tip = fmt::format("{}: {}", one.trial->case_id, si(point.y, unit_));
      point.link = row_link(content_.columns[one.column].run, one.row);
      Kind& kind = kinds[by_column_ ? content_.columns[one.column].label : kind_of(*one.trial)];
      kind.points.push_back(std::move(point));
      for (const std::string& size : parameters(*one.trial, true)) {
        kind.sizes[size.substr(0, size.find('='))].insert(size);
      }
    }
    add_series(plot, kinds);
    add_limits(plot);
    return plot_svg(plot);
  }

 private:
  /// The kind that most points have over all columns, so that devices are shown at the same work.
  void keep_common_kind(const std::string& preferred) {
    std::map<std::string, std::set<std::size_t>> columns_of;
    std::map<std::string, std::size_t> count;
    for (const Shown& one : shown_) {
      const std::string kind = kind_of(*one.trial);
      columns_of[kind].insert(one.column);
      ++count[kind];
    }
    kind_ = preferred;
    for (const auto& [kind, columns] : columns_of) {
      const auto rank = [&](const std::string& of) {
        return std::pair(columns_of[of].size(), count[of]);
      };
      if (rank(kind) > rank(kind_)) kind_ = kind;
    }
    std::erase_if(shown_, [&](const Shown& one) { return kind_of(*one.trial) != kind_; });
  }

  /// The points of one series, and the values that its sizes take.
  struct Kind {
    std::vector<PlotPoint> points;
    std::map<std::string, std::set<std::string>> sizes;

    std::size_t places() const {
      std::set<double> places;
      for (const PlotPoint& point : points) places.insert(point.x);
      return places.size();
    }
    /// A line says what lies between: only where one size alone changes.
    bool is_a_line() const {
      const auto varies = [](const auto& size) { return size.second.size() > 1; };
      return places() == points.size() && std::ranges::count_if(sizes, varies) == 1;
    }
  };

  static void add_series(Plot& plot, std::map<std::string, Kind>& kinds) {
    for (auto& [name, kind] : kinds) {
      if (kind.places() < fewest_sizes) continue;
      const bool is_joined = kind.is_a_line();
      plot.series.push_back({name, std::move(kind.points), is_joined});
    }
    std::ranges::stable_sort(plot.series, std::ranges::greater(),
                             [](const PlotSeries& one) { return one.points.size(); });
    const std::size_t all = plot.series.size();
    plot.series.resize(std::min(all, most_series));
    share_words(plot);
    if (all > most_series) plot.title += fmt::format(" ({} of {} series)", most_series, all);
  }

  /// Words that all names begin with go into the title.
  static void share_words(Plot& plot) {
    if (plot.series.size() < 2) return;
    for (;;) {
      const std::string& first = plot.series.front().name;
      const std::string word = first.substr(0, first.find(' ') + 1);  // with its space
      const bool is_shared = std::ranges::all_of(plot.series, [&](const PlotSeries& one) {
        return one.name.size() > word.size() && one.name.starts_with(word);
      });
      if (word.empty() || !is_shared) return;
      plot.title += " " + word.substr(0, word.size() - 1);
      for (PlotSeries& one : plot.series) one.name.erase(0, word.size());
    }
  }

  /// Of one column, the limit that its largest case is held against.
  void add_limits(Plot& plot) const {
    if (by_column_) return;
    const Shown* largest = nullptr;
    double low = 0;
    double high = 0;
    for (const PlotSeries& series : plot.series) {
      for (const PlotPoint& point : series.points) {
        low = low == 0 ? point.x : std::min(low, point.x);
        high = std::max(high, point.x);
      }
    }
    for (const Shown& one : shown_) {
      if (one.trial->limit.empty()) continue;
      if (largest == nullptr || tells_more(*one.trial, *largest->trial)) largest = &one;
    }
    if (largest == nullptr || low <= 0) return;
    const std::string name = largest->trial->limit.substr(0, largest->trial->limit.find(' '));
    const RunSource& run = content_.input.runs[content_.columns[largest->column].run];
    // A limit in another unit binds as well, but is no height of this axis.
    const auto value = limit_value(run, largest->trial->device, name, unit_);
    if (!value) return;
    plot.limits.push_back(
        {fmt::format("{} {}", name, si(*value, unit_)), {{low, *value}, {high, *value}}});
  }

  const Content& content_;
  const GridOp& op_;
  std::vector<Shown> shown_;
  std::string_view unit_;
  bool by_column_ = false;
  std::string kind_;
};

/// The timed trials of each op; those of launches back to back where there are any.
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

/// Each op of a suite at the case that stands for it, those with the same unit on one axis.
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
    if (plot.rows.size() > most_dot_rows) {
      plot.title += fmt::format(" ({} of {} ops)", most_dot_rows, plot.rows.size());
      plot.rows.resize(most_dot_rows);
    }
    if (plot.series.size() == 1 && content.columns[0].is_simulated) plot.title += " (simulated)";
    drop_empty_series(plot);
    charts.push_back(dot_plot_svg(plot));
  }
  return charts;
}

/// What bounds memory: the best of its limits.
struct MemoryLimit {
  std::string name;
  double bytes_per_s = 0;
};

MemoryLimit memory_limit(const RunSource& run, std::string_view device) {
  MemoryLimit best;
  for (const char* name : {"memory_triad", "memory_copy", "memory_read", "memory_write"}) {
    const double value = limit_value(run, device, name, "B/s").value_or(0);
    if (value > best.bytes_per_s) best = {name, value};
  }
  return best;
}

/// All arithmetic of a device against operations per byte, under its measured limits.
std::optional<std::string> roofline(const Content& content, std::size_t column) {
  const Column& of = content.columns[column];
  const RunSource& run = content.input.runs[of.run];
  const MemoryLimit memory = memory_limit(run, of.device);
  std::map<std::string, PlotSeries> series;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const Record& trial = run.trials[i];
    if (trial.device != of.device || trial.timing != batch_timing || !rate(trial)) continue;
    if (trial.flops.value_or(0) <= 0 || trial.bytes.value_or(0) <= 0) continue;
    const double intensity = *trial.flops / *trial.bytes;
    PlotPoint point = point_of({&trial, run.rows[i], column}, intensity, *trial.flops_per_s);
    point.tip = fmt::format("{}: {}", trial.case_id, si(point.y, "FLOP/s"));
    point.link = row_link(of.run, run.rows[i]);
    least = std::min(least, intensity);
    most = std::max(most, intensity);
    series[trial.dtype].points.push_back(std::move(point));
  }
  Plot plot{.title = "Roofline: " + of.label};
  plot.x = {"operations for each byte", "", true};
  plot.y = {"arithmetic", "FLOP/s", true};
  double highest = 0;  // of the peaks
  for (auto& [dtype, one] : series) {
    if (plot.series.size() == most_series) break;
    if (const auto peak = limit_value(run, of.device, "matrix_" + dtype, "FLOP/s")) {
      highest = std::max(highest, *peak);
      const double ridge = memory.bytes_per_s > 0 ? *peak / memory.bytes_per_s : least;
      plot.limits.push_back({fmt::format("matrix_{} {}", dtype, si(*peak, "FLOP/s")),
                             {{std::clamp(ridge, least, most), *peak}, {most, *peak}}});
    }
    plot.series.push_back({dtype, std::move(one.points), false});
  }
  if (memory.bytes_per_s > 0) {
    plot.limits.push_back(
        {fmt::format("{} {}", memory.name, si(memory.bytes_per_s, "B/s")),
         {{least, memory.bytes_per_s * least}, {most, memory.bytes_per_s * most}}});
  }
  if (plot.limits.empty()) return std::nullopt;
  return plot_svg(plot);
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
               "Each point is the median time of one case, launched back to back where it was, and "
               "leads to its row; a bar through it is the 95% interval of the median. A dashed "
               "line is the measured limit that the largest case is held against; what fits a "
               "cache may be above a limit of memory. Against size stand the ops that were timed "
               "at three sizes or more.");
  std::vector<std::string> suites;
  for (const GridOp& op : content.grid) {
    if (std::ranges::find(suites, op.suite) == suites.end()) suites.push_back(op.suite);
  }
  for (const std::string& suite : suites) {
    std::vector<std::string> charts = dot_plots(content, suite);
    for (const GridOp& op : content.grid) {
      const auto found = shown.find({op.suite, op.op});
      if (op.suite != suite || found == shown.end()) continue;
      if (charts.size() == most_charts) break;
      if (auto chart = OpChart(content, op, found->second).svg()) {
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
