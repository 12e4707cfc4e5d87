#pragma once

#include <string>

#include "reports/files/live_report.h"

namespace assay {

/// Returns the run as JUnit XML: one test suite for each suite and device, one test case for each
/// trial. A run that did not pass has at least one red test case, an empty run included.
std::string junit_xml(const RunInfo& run, const Outcomes& outcomes);

/// junit.xml. Exists from the beginning and is replaced now and then, always whole: a killed run
/// leaves a report that is closed and not green.
class JunitXml final : public LiveReport {
 public:
  using LiveReport::LiveReport;

 private:
  std::string text(const RunInfo& run, const Outcomes& outcomes) const override {
    return junit_xml(run, outcomes);
  }
};

}  // namespace assay
