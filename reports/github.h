#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/record.h"

namespace assay {

/// What a run says to GitHub Actions: workflow commands, one a line, for what is wrong or broken
/// (`::error`) and flaky (`::warning`), each with its replay, ten of either at most; then how many
/// more there are. A run that did not pass has at least one error. `outcomes`: one record for each
/// trial, as `outcomes()` gives them.
std::string github_annotations(const RunInfo& run, std::span<const Record> outcomes);

/// At the end, the annotations on standard error, which the runner reads as it reads standard
/// output, and the summary appended to `summary_file`, unless that is empty. A summary that cannot
/// be written is a warning: all it says is in the run directory.
class GithubReport : public Sink {
 public:
  explicit GithubReport(std::filesystem::path summary_file, std::vector<Record> earlier = {})
      : summary_file_(std::move(summary_file)), records_(std::move(earlier)) {}
  void result(const Result& result) override { records_.push_back(result.record); }
  void end(const RunInfo& run) override;

 private:
  std::filesystem::path summary_file_;
  std::vector<Record> records_;
};

/// Null unless the environment says that this is a job of GitHub Actions.
std::unique_ptr<Sink> github_report_if_there(std::vector<Record> earlier = {});

}  // namespace assay
