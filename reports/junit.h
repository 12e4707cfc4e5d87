#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/record.h"

namespace assay {

/// The run as JUnit XML: one test suite for each suite and device, one test case for each trial.
/// A run that did not pass has at least one test case that says so, an empty run included.
std::string junit_xml(const RunInfo& run, std::span<const Record> records);

/// junit.xml, written at the end.
class JunitXml : public Sink {
 public:
  explicit JunitXml(std::filesystem::path path, std::vector<Record> earlier = {})
      : path_(std::move(path)), records_(std::move(earlier)) {}
  void result(const Result& result) override { records_.push_back(result.record); }
  void end(const RunInfo& run) override;

 private:
  std::filesystem::path path_;
  std::vector<Record> records_;
};

}  // namespace assay
