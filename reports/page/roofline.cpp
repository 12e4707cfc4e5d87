#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "reports/page/chart_points.h"
#include "reports/rate.h"
#include "reports/si.h"

namespace assay::page {
namespace {

/// Bound of memory: the best of its limits.
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

}  // namespace

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
  double highest = 0;  // the highest peak
  for (auto& [dtype, one] : series) {
    if (plot.series.size() == max_series) break;
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

}  // namespace assay::page
