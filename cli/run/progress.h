#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "cli/status_line.h"
#include "harness/plan/plan.h"
#include "harness/records/record.h"
#include "reports/outcomes.h"

namespace assay::cli {

/// Tells a person, on standard error, how a run goes: a bar with the time left on a terminal, a
/// line now and then elsewhere, and at once whatever did not pass. `outcomes` must hear of each
/// result before this.
class Progress final : public Sink {
 public:
  /// `plan` and `cap_s` say how long each trial may take beside the others, `duration_s` that the
  /// run repeats its trials for so long; 0 when it ends with them.
  Progress(const Outcomes& outcomes, std::span<const PlannedTrial> plan, double cap_s, bool quiet,
           double duration_s);

  void begin(const RunInfo& run) override;
  /// The first trial begins: what came after begin() says nothing of the pace of trials.
  void start_clock() { started_ = std::chrono::steady_clock::now(); }
  void result(const Result& result) override;
  void end(const RunInfo& run) override;

 private:
  void draw(const std::string& what);

  const Outcomes& outcomes_;
  bool quiet_;
  StatusLine line_;
  double duration_s_;
  std::map<std::pair<std::string, std::string>, double> costs_s_;  // by case and device
  double total_cost_s_ = 0;
  double done_cost_s_ = 0;
  std::int64_t planned_ = 0;
  std::int64_t done_ = 0;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace assay::cli
