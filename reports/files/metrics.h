#pragma once

#include <string>

#include "reports/files/live_report.h"

namespace assay {

/// Returns the run as OpenMetrics text, for the textfile collector of a node exporter: the verdict,
/// outcomes by device, and for each op, dtype and device the rate of its largest case. All are
/// gauges: one run is a state, and counts nothing over time.
std::string metrics_text(const RunInfo& run, const Outcomes& outcomes);

/// metrics.prom, which exists from the beginning, as junit.xml does: a killed run has not passed.
class Metrics final : public LiveReport {
 public:
  using LiveReport::LiveReport;

 private:
  std::string text(const RunInfo& run, const Outcomes& outcomes) const override {
    return metrics_text(run, outcomes);
  }
};

}  // namespace assay
