#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "reports/page/cells.h"
#include "reports/page/charts.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr double above_the_roof = 1.05;

/// Bound of memory: the best of its limits.
struct MemoryLimit {
  std::string name;
  double bytes_per_s = 0;
};

MemoryLimit memory_limit(const RunSource& run, std::string_view device) {
  MemoryLimit best;
  for (const Resource resource : {Resource::memory_triad, Resource::memory_copy,
                                  Resource::memory_read, Resource::memory_write}) {
    const double value = limit_value(run, device, {resource}).value_or(0);
    if (value > best.bytes_per_s) best = {name(LimitKind{resource}), value};
  }
  return best;
}

/// The points of each dtype, and their extent of operations per byte.
struct Cloud {
  std::map<std::string, PlotSeries> series;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  std::size_t above = 0;  // of what memory allows
};

Cloud cloud_of(const Content& content, const Column& column, const MemoryLimit& memory) {
  const RunSource& run = content.input.runs[column.run];
  Cloud cloud;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const Record& trial = run.trials[i];
    if (trial.device != column.device || trial.timing != batch_timing || !rate(trial)) continue;
    if (trial.flops.value_or(0) <= 0 || trial.bytes.value_or(0) <= 0) continue;
    if (trial.flops_per_s.value_or(0) <= 0) continue;
    const double intensity = *trial.flops / *trial.bytes;
    PlotPoint point = point_of(trial, intensity, *trial.flops_per_s);
    point.tip = fmt::format("{}: {}", trial.case_id, si(point.y, unit_of(RateKind::arithmetic)));
    if (memory.bytes_per_s > 0 && point.y > above_the_roof * memory.bytes_per_s * intensity) {
      point.tip += ", above the line of memory: its tensors fit a cache";
      ++cloud.above;
    }
    point.link = row_link(column.run, run.rows[i]);
    cloud.least = std::min(cloud.least, intensity);
    cloud.most = std::max(cloud.most, intensity);
    cloud.series[trial.dtype].points.push_back(std::move(point));
  }
  return cloud;
}

}  // namespace

Json roofline(const Content& content, std::size_t number) {
  const Column& column = content.columns[number];
  const RunSource& run = content.input.runs[column.run];
  const MemoryLimit memory = memory_limit(run, column.device);
  Cloud cloud = cloud_of(content, column, memory);
  Plot plot{.title = "Roofline: " + column.label,
            .height = 300,
            .max_ticks = 6,
            .has_names_beside = true};
  plot.y.unit = unit_of(RateKind::arithmetic);
  std::vector<Look> looks;
  for (auto& [dtype, one] : cloud.series) {
    if (plot.series.size() == max_series) break;
    const LimitKind matrix{Resource::matrix, parse_format(dtype)};
    if (const auto peak = limit_value(run, column.device, matrix)) {
      const double ridge = memory.bytes_per_s > 0 ? *peak / memory.bytes_per_s : cloud.least;
      cloud.most = std::max(cloud.most, ridge);
      plot.limits.push_back({fmt::format("{} {}", name(matrix), si(*peak, unit_of(matrix))),
                             {{std::max(ridge, cloud.least), *peak}, {cloud.most, *peak}},
                             series_style(plot.series.size())});
    }
    const std::size_t look = plot.series.size();
    plot.series.push_back({dtype, std::move(one.points), false, look});
    looks.push_back({look, dtype});
  }
  double ridge = cloud.least;  // where the line of memory meets the highest ceiling
  for (PlotLimit& limit : plot.limits) {
    limit.points.back().first = cloud.most;
    ridge = std::max(ridge, limit.points.front().first);
  }
  if (memory.bytes_per_s > 0) {
    const double end = plot.limits.empty() ? cloud.most : ridge;
    plot.limits.push_back(
        {fmt::format("{} {}", memory.name, si(memory.bytes_per_s, unit_of(RateKind::data))),
         {{cloud.least, memory.bytes_per_s * cloud.least}, {end, memory.bytes_per_s * end}},
         "limit"});
  }
  if (plot.limits.empty()) return nullptr;
  const auto chart = plot_svg(plot);
  if (!chart) return nullptr;
  std::string subtitle = "FLOP/s by operations for each byte";
  if (cloud.above > 0) {
    subtitle +=
        fmt::format("; {} above the line of memory: their tensors fit a cache",
                    counted(static_cast<std::int64_t>(cloud.above), "point lies", "points lie"));
  }
  return {{"heading", plot.title},
          {"subtitle", subtitle},
          {"legend", legend_of(looks, plot)},
          {"chart", *chart}};
}

}  // namespace assay::page
