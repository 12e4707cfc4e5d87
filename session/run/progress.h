#pragma once

#include <chrono>
#include <span>
#include <string>

#include "harness/plan/plan.h"
#include "harness/records/record.h"
#include "reports/text/outcomes.h"
#include "session/console/status_line.h"
#include "session/plan/estimate.h"

namespace assay {

/// Shows the progress of a run on standard error: a bar with the time left on a terminal, a line
/// now and then elsewhere, and bad results at once, the first fifty of them. `outcomes` must get
/// each result before this.
class Progress final : public Sink {
 public:
  struct Options {
    double cap_s = 0;  // with the plan it gives the share of each trial
    double second_takes_share = 0;
    bool quiet = false;
    int attempts = 1;  // at each trial, at most
  };
  Progress(const Outcomes& outcomes, std::span<const PlannedTrial> plan, const Options& options);

  void begin(const RunInfo& run) override;
  /// Marks the first trial: earlier work says nothing about the pace of trials.
  void start_clock() { started_ = std::chrono::steady_clock::now(); }
  void result(const Result& result) override;
  void held(const Record& first_take) override;
  void end(const RunInfo& run) override;

 private:
  void draw(const std::string& what);

  const Outcomes& outcomes_;
  Options options_;
  StatusLine line_;
  WorkLeft work_left_;
  std::int64_t planned_ = 0;
  std::int64_t done_ = 0;
  int bad_ = 0;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace assay
