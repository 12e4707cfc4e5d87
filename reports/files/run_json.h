#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "harness/records/record.h"

namespace assay {

/// Returns the text of run.json. Values known only at the end of the run, or of a session, are null
/// before.
std::string run_json(const RunInfo& run, bool ended);

/// Parses such a text; `ended_at` is empty while the run goes on. Missing values keep their
/// defaults. Devices are left out: devices.csv has them. Throws UsageError for other text, and for
/// a newer schema.
RunInfo parse_run_json(std::string_view text);

/// run.json: written at the beginning, so that a killed run has it, and replaced at the end.
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
