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

/// Shows the progress of a run on standard error: a bar with the time left on a terminal, a line
/// now and then elsewhere, and each bad result at once. `outcomes` must get each result before
/// this.
class Progress final : public Sink {
 public:
  /// `plan` and `cap_s` give the share of each trial. The run repeats its trials for `duration_s`;
  /// 0 if it takes them once.
  Progress(const Outcomes& outcomes, std::span<const PlannedTrial> plan, double cap_s, bool quiet,
           double duration_s);

  void begin(const RunInfo& run) override;
  /// Marks the first trial: earlier work says nothing about the pace of trials.
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
