#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "harness/record.h"

namespace assay {

/// The text of run.json. What is known only at the end is null while the run goes on.
std::string run_json(const RunInfo& run, bool ended);

/// run.json: stands from the beginning, so that a run that is killed has it, and is replaced at
/// the end.
class RunJson : public Sink {
 public:
  explicit RunJson(std::filesystem::path path) : path_(std::move(path)) {}
  void begin(const RunInfo& run) override;
  void result(const Result& /*result*/) override {}
  void end(const RunInfo& run) override;

 private:
  std::filesystem::path path_;
};

}  // namespace assay
