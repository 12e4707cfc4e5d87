#include "reports/page/chart_points.h"

#include <algorithm>

namespace assay::page {

PlotPoint point_of(const Shown& shown, double x, double y) {
  const Record& trial = *shown.trial;
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

}  // namespace assay::page
