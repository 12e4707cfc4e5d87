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

Json legend_of(const std::vector<std::string>& names) {
  constexpr double size = 12;
  Json legend = Json::array();
  if (names.size() < 2) return legend;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Svg key(size, size, names[i]);
    key.mark(i, size / 2, size / 2, series_style(i));
    legend.push_back({{"chart", key.element()}, {"name", names[i]}});
  }
  return legend;
}

}  // namespace assay::page
