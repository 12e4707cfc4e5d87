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

Json legend_of(const std::vector<Look>& looks) {
  constexpr double size = 12;
  Json legend = Json::array();
  if (looks.size() < 2) return legend;
  for (const Look& one : looks) {
    Svg key(size, size, one.name);
    key.mark(one.look, size / 2, size / 2, series_style(one.look));
    legend.push_back({{"chart", key.element()}, {"name", one.name}});
  }
  return legend;
}

}  // namespace assay::page
