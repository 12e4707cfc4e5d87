#include "reports/files/sinks.h"

#include "reports/files/devices_csv.h"
#include "reports/files/junit.h"
#include "reports/files/metrics.h"
#include "reports/files/results_csv.h"
#include "reports/files/run_json.h"
#include "reports/files/samples_csv.h"
#include "reports/files/summary.h"

namespace assay {

std::vector<std::unique_ptr<Sink>> run_directory_sinks(const std::filesystem::path& directory,
                                                       const Outcomes& outcomes, Start start,
                                                       const std::vector<Record>& earlier) {
  std::vector<std::unique_ptr<Sink>> all;
  if (start == Start::fresh) {
    all.push_back(std::make_unique<DevicesCsv>(directory / "devices.csv"));
  }
  // Follows devices.csv: a directory with a run.json has all that resuming needs.
  all.push_back(std::make_unique<RunJson>(directory / "run.json"));
  // The samples go before their row: no run that dies in between leaves a row without them, and
  // resuming takes back those without a row.
  all.push_back(std::make_unique<SamplesCsv>(directory / "samples.csv", start, earlier));
  all.push_back(std::make_unique<ResultsCsv>(directory / "results.csv", start));
  all.push_back(std::make_unique<JunitXml>(directory / "junit.xml", outcomes));
  all.push_back(std::make_unique<Metrics>(directory / "metrics.prom", outcomes));
  all.push_back(std::make_unique<Summary>(directory / "summary.md", outcomes));
  return all;
}

}  // namespace assay
