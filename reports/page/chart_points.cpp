#include <algorithm>

#include "reports/page/charts.h"

namespace assay::page {

PlotPoint point_of(const Record& trial, double x, double y) {
  PlotPoint point{.x = x, .y = y};
  if (trial.time_median_s && trial.time_ci_low_s.value_or(0) > 0 && trial.time_ci_high_s) {
    point.low = y * *trial.time_median_s / *trial.time_ci_high_s;
    point.high = y * *trial.time_median_s / *trial.time_ci_low_s;
  }
  return point;
}

std::optional<double> limit_value(const RunSource& run, std::string_view device, LimitKind kind) {
  std::optional<double> best;
  for (const Limit& limit : run.limits) {
    if (limit.device != device || limit.limit != kind || !limit.value) continue;
    best = std::max(best.value_or(0), *limit.value);
  }
  return best;
}

Json legend_of(const std::vector<Look>& looks, const Plot& plot) {
  constexpr double size = 12;
  constexpr double line_width = 20;  // holds some dashes
  Json legend = Json::array();
  const auto add = [&](const Svg& key, const std::string& name) {
    legend.push_back({{"chart", key.element()}, {"name", name}});
  };
  for (const Look& one : looks) {
    if (looks.size() < 2) break;
    Svg key(size, size, one.name);
    key.mark(one.look, size / 2, size / 2, series_style(one.look));
    add(key, one.name);
  }
  for (const PlotLimit& limit : plot.limits) {
    if (plot.has_names_beside && limit.is_flat()) continue;
    Svg key(line_width, size, limit.name);
    key.line(0, size / 2, line_width, size / 2, limit.style + " roof");
    add(key, limit.name);
  }
  return legend;
}

}  // namespace assay::page
