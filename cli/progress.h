#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/record.h"
#include "reports/outcomes.h"

namespace assay::cli {

/// Tells a person, on standard error, how a run goes: a bar with the time left on a terminal, a
/// line now and then elsewhere, and at once whatever did not pass.
class Progress final : public Sink {
 public:
  explicit Progress(bool quiet);

  void begin(const RunInfo& run) override;
  void result(const Result& result) override;
  void end(const RunInfo& run) override;

  const Tally& tally() const { return tally_; }
  const std::vector<Record>& records() const { return records_; }

 private:
  void draw(const std::string& what);
  void erase();

  bool quiet_;
  bool terminal_;
  std::int64_t planned_ = 0;
  std::int64_t done_ = 0;
  Tally tally_;
  std::vector<Record> records_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_line_;
};

}  // namespace assay::cli
