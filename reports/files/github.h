#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "reports/text/outcomes.h"

namespace assay {

/// Workflow commands of a run for GitHub Actions, one a line: `::error` for wrong or broken
/// results,
/// `::warning` for flaky ones, each with its replay. At most ten of either, then how many more
/// there are. A run that did not pass has at least one error.
std::string github_annotations(const RunInfo& run, const Outcomes& outcomes);

/// Prints the annotations at the end on standard error, which the runner reads like standard
/// output. Appends the summary to `summary_file`, unless that is empty. A summary that cannot be
/// written is a warning: the run directory has its content.
class GithubReport : public Sink {
 public:
  GithubReport(std::filesystem::path summary_file, const Outcomes& outcomes)
      : summary_file_(std::move(summary_file)), outcomes_(outcomes) {}
  void result(const Result& /*result*/) override {}
  void end(const RunInfo& run) override;

 private:
  std::filesystem::path summary_file_;
  const Outcomes& outcomes_;
};

/// Returns null unless the environment is that of a GitHub Actions job.
std::unique_ptr<Sink> github_report_if_there(const Outcomes& outcomes);

}  // namespace assay
