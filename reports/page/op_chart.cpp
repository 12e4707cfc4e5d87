#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/core/names.h"
#include "reports/page/chart_points.h"
#include "reports/rate.h"
#include "reports/si.h"

namespace assay::page {
namespace {

/// Fewer sizes make no curve; the table of rates has the figures.
constexpr std::size_t min_sizes = 3;

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

/// Key of a trial of an op beside its sizes: dtype, words among the parameters, ranks.
std::string kind_of(const Record& trial) {
  std::vector<std::string> words = parameters(trial, false);
  words.insert(words.begin(), trial.dtype);
  if (trial.timing != batch_timing) words.push_back(trial.timing);
  return join(words, " ");
}

/// Returns bytes or operations a second, as the unit says.
double per_second(const Record& trial, std::string_view unit) {
  if (unit == "FLOP/s") return trial.flops_per_s.value_or(0);
  return trial.busbw_bytes_per_s.value_or(
      trial.algbw_bytes_per_s.value_or(trial.bandwidth_bytes_per_s.value_or(0)));
}

/// Groups the trials of an op into series: by column if there are several, else by kind.
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
    if (by_column_) plot.title += " " + kind_;
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
  /// Returns the kind of most points over all columns, so that devices are shown at the same work.
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

  /// Points of one series, and the values of its sizes.
  struct Kind {
    std::vector<PlotPoint> points;
    std::map<std::string, std::set<std::string>> sizes;

    std::size_t places() const {
      std::set<double> places;
      for (const PlotPoint& point : points) places.insert(point.x);
      return places.size();
    }
    /// Joins points by a line only if a single size changes: a line claims the values between them.
    bool is_a_line() const {
      const auto varies = [](const auto& size) { return size.second.size() > 1; };
      return places() == points.size() && std::ranges::count_if(sizes, varies) == 1;
    }
  };

  static void add_series(Plot& plot, std::map<std::string, Kind>& kinds) {
    for (auto& [name, kind] : kinds) {
      if (kind.places() < min_sizes) continue;
      const bool is_joined = kind.is_a_line();
      plot.series.push_back({name, std::move(kind.points), is_joined});
    }
    std::ranges::stable_sort(plot.series, std::ranges::greater(),
                             [](const PlotSeries& one) { return one.points.size(); });
    const std::size_t all = plot.series.size();
    plot.series.resize(std::min(all, max_series));
    share_words(plot);
    if (all > max_series) plot.title += fmt::format(" ({} of {} series)", max_series, all);
  }

  /// Moves words that all names begin with into the title.
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

  /// Returns the limit of one column that applies to its largest case.
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
    // A limit in another unit binds too, but has no place on this axis.
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

}  // namespace

std::optional<std::string> op_chart(const Content& content, const GridOp& op,
                                    std::vector<Shown> shown) {
  return OpChart(content, op, std::move(shown)).svg();
}

}  // namespace assay::page
