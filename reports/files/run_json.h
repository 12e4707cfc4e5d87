#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "harness/records/record.h"

namespace assay {

/// The text of run.json. What is known only at the end is null while the run goes on, and what is
/// known at the end of a session before one has ended.
std::string run_json(const RunInfo& run, bool ended);

/// What such a text says of a run; `ended_at` is empty while it goes on. What an older version did
/// not write keeps its default. Its devices are left out: devices.csv tells all of them. Throws
/// UsageError where it is none, and where it is of a newer schema.
RunInfo parse_run_json(std::string_view text);

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
