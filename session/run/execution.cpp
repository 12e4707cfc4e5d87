#include "session/run/execution.h"

#include <algorithm>
#include <span>
#include <utility>

#include "harness/plan/coverage.h"
#include "session/plan/estimate.h"

namespace assay {

using std::chrono::steady_clock;

Execution::Execution(const Job& job, double cap_s, const Outcomes& outcomes)
    : job_(job), cap_s_(cap_s), outcomes_(outcomes), began_(steady_clock::now()) {}

bool Execution::enough() const {
  const double budget_s = job_.options.budget_s;
  return budget_s > 0 &&
         std::chrono::duration<double>(steady_clock::now() - began_).count() >= budget_s;
}

PlanEnd Execution::run(Supervisor& supervisor) const {
  return job_.options.budget_s > 0 ? within_budget(supervisor) : rounds(supervisor);
}

/// Takes one repeat after the other.
PlanEnd Execution::rounds(Supervisor& supervisor) const {
  PlanEnd end = PlanEnd::completed;
  for (auto first = job_.plan.begin(); first != job_.plan.end() && end == PlanEnd::completed;) {
    const auto last = std::find_if(first, job_.plan.end(), [&](const PlannedTrial& trial) {
      return trial.repeat != first->repeat;
    });
    end = supervisor.execute({first, last});
    first = last;
  }
  return end;
}

PlanEnd Execution::within_budget(Supervisor& supervisor) const {
  const auto cost_s = [&](const PlannedTrial& trial) {
    return estimate_s(std::span(&trial, 1), cap_s_);
  };
  CoverageOrder order = order_by_coverage(job_.plan, job_.options.budget_s, cost_s);
  PlanEnd end = supervisor.execute(order.first);
  // A skipped trial has touched nothing: the next ones of its cell take its place.
  while (end == PlanEnd::completed) {
    std::set<std::string> untested;
    for (const auto& [cell, refusal] : outcomes_.tally().untested) untested.insert(cell);
    const std::vector<PlannedTrial> next = take_next(order.rest, untested);
    if (next.empty()) break;
    end = supervisor.execute(next);
  }
  return end == PlanEnd::completed ? supervisor.execute(order.rest) : end;
}

LeftOut left_out(const std::vector<PlannedTrial>& plan, const Outcomes& outcomes) {
  std::set<std::pair<std::string, std::string>> taken;
  for (const Record& record : outcomes.trials()) taken.emplace(record.case_id, record.device);
  LeftOut left;
  std::set<std::string> touched;
  for (const PlannedTrial& trial : plan) {
    const bool has_row = taken.contains({trial.test.id(), lane_text(trial)});
    if (has_row) touched.insert(coverage_cell(trial));
    left.trials += has_row ? 0 : 1;
  }
  for (const PlannedTrial& trial : plan) {
    if (!touched.contains(coverage_cell(trial))) left.untouched.insert(coverage_cell(trial));
  }
  return left;
}

}  // namespace assay
