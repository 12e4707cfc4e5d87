#pragma once

#include <string>

#include "reports/files/live_report.h"

namespace assay {

/// Returns the run on a page that fits a pull request: verdict, counts, suites by device, the worst
/// failures, the best rate of each suite, links to the rest, where the time went. Markdown as
/// GitHub and GitLab read it.
std::string summary_markdown(const RunInfo& run, const Outcomes& outcomes);

/// summary.md, which exists from the beginning, as junit.xml does.
class Summary final : public LiveReport {
 public:
  using LiveReport::LiveReport;

 private:
  std::string text(const RunInfo& run, const Outcomes& outcomes) const override {
    return summary_markdown(run, outcomes);
  }
};

}  // namespace assay
