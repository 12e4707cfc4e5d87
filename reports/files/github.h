#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "reports/outcomes.h"

namespace assay {

/// What a run says to GitHub Actions: workflow commands, one a line, for what is wrong or broken
/// (`::error`) and flaky (`::warning`), each with its replay, ten of either at most; then how many
/// more there are. A run that did not pass has at least one error.
std::string github_annotations(const RunInfo& run, const Outcomes& outcomes);

/// At the end, the annotations on standard error, which the runner reads as it reads standard
/// output, and the summary appended to `summary_file`, unless that is empty. A summary that cannot
/// be written is a warning: all it says is in the run directory.
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

/// Null unless the environment says that this is a job of GitHub Actions.
std::unique_ptr<Sink> github_report_if_there(const Outcomes& outcomes);

}  // namespace assay
