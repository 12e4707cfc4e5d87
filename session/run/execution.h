#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "harness/supervise/supervisor.h"
#include "reports/text/outcomes.h"
#include "session/run/job.h"

namespace assay {

/// Takes a job's trials as its options say: once, N times, or within a budget.
class Execution {
 public:
  /// `cap_s` is the profile's time cap of one measurement; `outcomes` hears each row.
  Execution(const Job& job, double cap_s, const Outcomes& outcomes);

  PlanEnd run(Supervisor& supervisor) const;

  /// Returns whether the budget is over, so that no further trial should begin.
  bool enough() const;

 private:
  PlanEnd rounds(Supervisor& supervisor) const;
  PlanEnd within_budget(Supervisor& supervisor) const;

  const Job& job_;
  double cap_s_;
  const Outcomes& outcomes_;
  std::chrono::steady_clock::time_point began_;
};

/// Trials that a budget left out of a plan.
struct LeftOut {
  std::int64_t trials = 0;
  std::set<std::string> untouched;  // suites, ops and dtypes without any trial
};
LeftOut left_out(const std::vector<PlannedTrial>& plan, const Outcomes& outcomes);

}  // namespace assay
