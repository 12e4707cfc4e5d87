#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "harness/records/record.h"
#include "reports/text/outcomes.h"

namespace assay {

/// A file about the whole run that is replaced as the run goes on, never half written: at its
/// beginning, now and then, and at its end. `outcomes` must get each result before this.
class LiveReport : public Sink {
 public:
  LiveReport(std::filesystem::path path, const Outcomes& outcomes)
      : path_(std::move(path)), outcomes_(outcomes) {}
  void begin(const RunInfo& run) override;
  void result(const Result& result) override;
  void end(const RunInfo& run) override;

 private:
  virtual std::string text(const RunInfo& run, const Outcomes& outcomes) const = 0;
  void write(const RunInfo& run);

  std::filesystem::path path_;
  const Outcomes& outcomes_;
  RunInfo run_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace assay
