#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/record.h"

namespace assay {

/// The run on a page that fits a pull request: verdict, counts, suites by device, the worst
/// failures, the best rate of each suite. Markdown as GitHub and GitLab read it.
std::string summary_markdown(const RunInfo& run, std::span<const Record> records);

/// summary.md, written at the end.
class Summary : public Sink {
 public:
  explicit Summary(std::filesystem::path path, std::vector<Record> earlier = {})
      : path_(std::move(path)), records_(std::move(earlier)) {}
  void result(const Result& result) override { records_.push_back(result.record); }
  void end(const RunInfo& run) override;

 private:
  std::filesystem::path path_;
  std::vector<Record> records_;
};

}  // namespace assay
