#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "harness/records/fields_text.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/page/cells.h"
#include "reports/page/charts.h"
#include "reports/page/find_sweep.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

/// Fewer sizes make no curve; the table of rates has the figures.
constexpr std::size_t min_sizes = 3;
constexpr std::size_t max_panels = 60;  // of one suite
constexpr std::size_t max_open = 12;    // further ones are behind a line that opens

struct Shown {
  const Record* trial;
  std::size_t row;
  std::size_t column;
};

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the parameters of a trial, "name=value" each: those that are sizes, or the others. Ranks
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

/// Tells trials of an op and dtype apart beside their sizes: words among the parameters, ranks.
std::string kind_of(const Record& trial) {
  std::vector<std::string> words = parameters(trial, false);
  if (trial.timing != batch_timing) words.push_back(trial.timing);
  return join(words, " ");
}

/// Returns bytes or operations a second.
double per_second(const Record& trial, RateKind kind) {
  return (kind == RateKind::arithmetic ? trial.flops_per_s : bandwidth(trial)).value_or(0);
}

/// Points of one series, and the sizes of their trials.
struct Series {
  std::vector<PlotPoint> points;
  std::vector<Sizes> sizes;

  std::size_t sizes_shown() const {
    std::set<double> all;
    for (const PlotPoint& point : points) all.insert(point.x);
    return all.size();
  }
  /// Joins the points of a sweep; the others stand apart. Returns whether there is one.
  bool join() {
    const std::vector<std::size_t> sweep = find_sweep(sizes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].is_apart = std::ranges::find(sweep, i) == sweep.end();
    }
    return !sweep.empty();
  }
};

/// Leaves out of the names of series the words that all of them have.
void shorten(std::vector<PlotSeries>& series) {
  if (series.size() < 2) return;
  std::vector<std::vector<std::string>> all;
  for (const PlotSeries& one : series) all.push_back(split(one.name, ' '));
  const auto is_common = [&](const std::string& word) {
    return std::ranges::all_of(
        all, [&](const auto& words) { return std::ranges::find(words, word) != words.end(); });
  };
  std::set<std::string> common;
  for (const std::string& word : all.front()) {
    if (is_common(word)) common.insert(word);
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::erase_if(all[i], [&](const std::string& word) { return common.contains(word); });
    series[i].name = join(all[i], " ");
  }
}

/// Keeps the kind of most columns, then of most points, so that devices are shown at the same work.
void keep_common_kind(std::vector<Shown>& shown) {
  std::map<std::string, std::set<std::size_t>> columns_of;
  std::map<std::string, std::size_t> count;
  for (const Shown& one : shown) {
    columns_of[kind_of(*one.trial)].insert(one.column);
    ++count[kind_of(*one.trial)];
  }
  std::string kept = columns_of.begin()->first;
  for (const auto& [kind, columns] : columns_of) {
    const auto rank = [&](const std::string& of) {
      return std::pair(columns_of[of].size(), count[of]);
    };
    if (rank(kind) > rank(kept)) kept = kind;
  }
  std::erase_if(shown, [&](const Shown& one) { return kind_of(*one.trial) != kept; });
}

/// The caches that all shown devices have alike: a rate falls where work leaves one.
std::vector<PlotStep> caches_of(const Content& content) {
  std::vector<PlotStep> steps;
  const auto add = [&](std::string_view name, std::string_view column) {
    std::set<std::string> sizes;
    for (const std::size_t c : content.rated) {
      const DeviceCells* const cells = content.columns[c].cells;
      if (cells == nullptr) continue;  // several devices together
      const auto found = cells->find(column);
      sizes.insert(found == cells->end() ? "" : found->second);
    }
    if (sizes.size() != 1 || sizes.begin()->empty()) return;
    double bytes = 0;
    try {
      from_cell(*sizes.begin(), bytes);
    } catch (const UsageError&) {
      return;
    }
    if (std::ranges::find(steps, bytes, &PlotStep::x) != steps.end()) return;
    steps.push_back({std::string(name), bytes, fmt::format("{} {}", name, si(bytes, "B"))});
  };
  add("L1", "l1_cache_bytes");
  add("L2", "l2_cache_bytes");
  add(steps.size() == 2 ? "L3" : "cache", "last_level_cache_bytes");
  return steps;
}

/// A panel: one op and dtype.
struct Panel {
  std::string heading;
  RateKind rate = RateKind::data;
  Plot plot;
  bool is_joined = false;
  bool is_by_column = false;
};

class PanelOf {
 public:
  PanelOf(const Content& content, std::vector<Shown> shown)
      : content_(content), shown_(std::move(shown)) {
    const Record* largest = nullptr;
    std::set<std::size_t> columns;
    for (const Shown& one : shown_) {
      columns.insert(one.column);
      if (largest == nullptr || tells_more(*one.trial, *largest)) largest = one.trial;
    }
    rate_ = rate(*largest)->kind;
    by_column_ = columns.size() > 1;
    if (by_column_) keep_common_kind(shown_);
  }

  std::optional<Panel> make() const {
    const Record& any = *shown_.front().trial;
    const bool is_arithmetic = rate_ == RateKind::arithmetic;
    Panel panel{.heading = fmt::format("{} {}", any.op, any.dtype),
                .rate = rate_,
                .is_by_column = by_column_};
    if (by_column_) panel.heading += " " + kind_of(any);
    panel.plot.title = any.suite + "/" + panel.heading;
    panel.plot.x.unit = is_arithmetic ? "FLOP" : "B";
    panel.plot.y.unit = unit_of(rate_);
    std::map<Look, Series> all;
    for (const Shown& one : shown_) {
      const double x = (is_arithmetic ? one.trial->flops : one.trial->bytes).value_or(0);
      PlotPoint point = point_of(*one.trial, x, per_second(*one.trial, rate_));
      const std::string& label = content_.columns[one.column].label;
      point.tip =
          fmt::format("{} on {}: {}", one.trial->case_id, label, si(point.y, panel.plot.y.unit));
      point.link = row_link(content_.columns[one.column].run, one.row);
      Series& series = all[by_column_ ? Look{one.column, label} : Look{0, kind_of(*one.trial)}];
      series.points.push_back(std::move(point));
      Sizes& sizes = series.sizes.emplace_back();
      for (const std::string& size : parameters(*one.trial, true)) {
        const std::size_t equals = size.find('=');
        sizes.emplace(size.substr(0, equals), size.substr(equals + 1));
      }
    }
    std::size_t kinds = 0;
    for (auto& [look, series] : all) {
      if (series.sizes_shown() < min_sizes) continue;
      const bool is_joined = series.join();
      panel.is_joined = panel.is_joined || is_joined;
      panel.plot.series.push_back(
          {look.name, std::move(series.points), is_joined, by_column_ ? look.look : kinds++});
    }
    if (panel.plot.series.empty()) return std::nullopt;
    if (!by_column_) shorten(panel.plot.series);
    if (panel.plot.series.size() > max_series) {
      panel.plot.title += fmt::format(" ({} of {} series)", max_series, panel.plot.series.size());
      panel.plot.series.resize(max_series);
    }
    if (!is_arithmetic) panel.plot.steps = caches_of(content_);
    add_limit(panel.plot);
    return panel;
  }

 private:
  /// Adds the limit of one column that applies to its largest case.
  void add_limit(Plot& plot) const {
    if (by_column_) return;
    const Shown* largest = nullptr;
    for (const Shown& one : shown_) {
      if (one.trial->limit.empty()) continue;
      if (largest == nullptr || tells_more(*one.trial, *largest->trial)) largest = &one;
    }
    if (largest == nullptr) return;
    double low = plot.series.front().points.front().x;
    double high = low;
    for (const PlotSeries& series : plot.series) {
      for (const PlotPoint& point : series.points) {
        low = std::min(low, point.x);
        high = std::max(high, point.x);
      }
    }
    if (!(low > 0)) return;
    const NamedLimit limit = limit_of_result(largest->trial->limit);
    const LimitKind* const kind = limit.kind();
    // A limit of the other rate binds too, but has no place on this axis.
    if (kind == nullptr || rate_kind(*kind) != rate_) return;
    const RunSource& run = content_.input.runs[content_.columns[largest->column].run];
    const auto value = limit_value(run, largest->trial->device, *kind);
    if (!value) return;
    plot.limits.push_back({fmt::format("{} {}", name(*kind), si(*value, plot.y.unit)),
                           {{low, *value}, {high, *value}},
                           "limit"});
  }

  const Content& content_;
  std::vector<Shown> shown_;
  RateKind rate_ = RateKind::data;
  bool by_column_ = false;
};

using Key = std::tuple<std::string, std::string, std::string>;  // suite, op, dtype

/// Collects the timed trials of each op and dtype; those of launches back to back if there are any.
std::map<Key, std::vector<Shown>> shown_of(const Content& content) {
  std::map<Key, std::vector<Shown>> shown;
  const std::vector<RunSource>& runs = content.input.runs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].trials.size(); ++i) {
      const Record& trial = runs[r].trials[i];
      if (!rate(trial)) continue;
      shown[{trial.suite, trial.op, trial.dtype}].push_back(
          {&trial, runs[r].rows[i], content.columns.of(r, trial.device)});
    }
  }
  for (auto& [key, trials] : shown) {
    const auto is_batch = [](const Shown& one) { return one.trial->timing == batch_timing; };
    if (std::ranges::any_of(trials, is_batch)) std::erase_if(trials, std::not_fn(is_batch));
  }
  return shown;
}

/// Lets the charts of one kind of rate share their axes.
void share_axes(std::vector<Panel>& panels) {
  std::map<RateKind, std::pair<std::vector<double>, std::vector<double>>> by_rate;
  for (const Panel& panel : panels) {
    auto& [xs, ys] = by_rate[panel.rate];
    for (const PlotLimit& limit : panel.plot.limits) ys.push_back(limit.points.front().second);
    for (const PlotSeries& series : panel.plot.series) {
      for (const PlotPoint& point : series.points) {
        xs.push_back(point.x);
        for (const double y : {point.y, point.low, point.high}) ys.push_back(y);
      }
    }
  }
  for (Panel& panel : panels) {
    const auto& [xs, ys] = by_rate[panel.rate];
    panel.plot.x.also = xs;
    panel.plot.y.also = ys;
  }
}

std::vector<Look> looks_of(const Panel& panel) {
  std::vector<Look> looks;
  for (const PlotSeries& series : panel.plot.series) {
    looks.push_back({series.look, series.name.empty() ? "plain" : series.name});
  }
  return looks;
}

/// "B/s by bytes of a launch": the axes of the panels of a suite.
std::string axes_text(const std::vector<Panel>& panels) {
  std::set<std::string> texts;
  for (const Panel& panel : panels) {
    texts.insert(fmt::format("{} by {} of a launch", panel.plot.y.unit,
                             panel.rate == RateKind::arithmetic ? "operations" : "bytes"));
  }
  return join(std::vector<std::string>(texts.begin(), texts.end()), ", or ") +
         (texts.size() > 1 ? "; the same axes for each unit" : "; all on the same axes");
}

/// Panels in a row, so that the last row is as full as it can be.
std::size_t across(std::size_t panels) {
  if (panels <= 4) return panels;
  const auto gap = [&](std::size_t columns) { return (columns - panels % columns) % columns; };
  return gap(3) < gap(4) ? 3 : 4;
}

Json panel_json(const Panel& panel) {
  const auto chart = plot_svg(panel.plot);
  if (!chart) return nullptr;
  return {{"heading", panel.heading},
          {"legend", panel.is_by_column ? Json::array() : legend_of(looks_of(panel), panel.plot)},
          {"chart", *chart}};
}

}  // namespace

Json sweeps(const Content& content) {
  std::map<std::string, std::vector<Panel>> by_suite;
  std::vector<std::string> order;
  for (const GridOp& op : content.grid) {
    if (std::ranges::find(order, op.suite) == order.end()) order.push_back(op.suite);
  }
  for (auto& [key, shown] : shown_of(content)) {
    auto panel = PanelOf(content, std::move(shown)).make();
    if (panel) by_suite[std::get<0>(key)].push_back(std::move(*panel));
  }
  Json suites = Json::array();
  for (const std::string& suite : order) {
    std::vector<Panel>& panels = by_suite[suite];
    if (panels.empty()) continue;
    // Sweeps come before clouds, and f32 before other dtypes.
    std::ranges::stable_sort(panels, std::ranges::greater(), [](const Panel& panel) {
      return std::pair(panel.is_joined, panel.heading.find(" f32") != std::string::npos);
    });
    const std::size_t all = panels.size();
    if (all > max_panels) panels.resize(max_panels);
    share_axes(panels);
    // One legend serves all whose series are devices.
    const bool has_columns = std::ranges::any_of(panels, &Panel::is_by_column);
    std::vector<Look> looks;
    for (const std::size_t c : content.rated) looks.push_back({c, content.columns[c].label});
    Json open = Json::array();
    Json folded = Json::array();
    for (const Panel& panel : panels) {
      Json drawn = panel_json(panel);
      if (!drawn.is_null()) (open.size() < max_open ? open : folded).push_back(std::move(drawn));
    }
    const std::size_t hidden = folded.size();
    suites.push_back({{"suite", suite},
                      {"across", across(open.size())},
                      {"subtitle", axes_text(panels)},
                      {"legend", has_columns ? legend_of(looks) : Json::array()},
                      {"panels", std::move(open)},
                      {"folded", std::move(folded)},
                      {"has_folded", hidden > 0},
                      {"folded_title",
                       fmt::format("{} more{}", hidden,
                                   all > max_panels ? fmt::format(", of {} in all", all) : "")}});
  }
  return suites;
}

}  // namespace assay::page
