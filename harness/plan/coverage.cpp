#include "harness/plan/coverage.h"

#include <algorithm>
#include <map>
#include <utility>

namespace assay {

std::string coverage_cell(const PlannedTrial& trial) {
  const OpInstance& op = trial.test.op;
  return trial.test.suite + "/" + std::string(op.op->name) + "/" + std::string(name(op.format)) +
         " on " + lane_text(trial);
}

CoverageOrder order_by_coverage(std::span<const PlannedTrial> plan, double budget_s,
                                const std::function<double(const PlannedTrial&)>& cost_s) {
  struct Priced {
    const PlannedTrial* trial;
    double cost_s;
  };
  std::vector<std::string> order;  // by first appearance
  std::map<std::string, std::vector<Priced>> cells;
  for (const PlannedTrial& trial : plan) {
    const std::string cell = coverage_cell(trial);
    if (!cells.contains(cell)) order.push_back(cell);
    cells[cell].push_back({&trial, cost_s(trial)});
  }

  CoverageOrder result;
  const double share_s = budget_s / static_cast<double>(std::max<std::size_t>(1, cells.size()));
  std::size_t most = 0;
  for (const std::string& cell : order) {
    auto& trials = cells[cell];
    std::ranges::stable_sort(trials, {}, &Priced::cost_s);
    const auto too_costly = std::ranges::find_if(
        trials, [&](const Priced& priced) { return priced.cost_s > share_s / 2; });
    const auto chosen = too_costly == trials.begin() ? too_costly : too_costly - 1;
    result.first.push_back(*chosen->trial);
    trials.erase(chosen);
    most = std::max(most, trials.size());
  }
  for (std::size_t round = 0; round < most; ++round) {
    for (const std::string& cell : order) {
      if (round < cells[cell].size()) result.rest.push_back(*cells[cell][round].trial);
    }
  }
  return result;
}

std::vector<PlannedTrial> take_next(std::vector<PlannedTrial>& rest,
                                    const std::set<std::string>& cells) {
  std::vector<PlannedTrial> next;
  std::vector<PlannedTrial> others;
  std::set<std::string> open = cells;
  for (PlannedTrial& trial : rest) {
    const bool is_next = open.erase(coverage_cell(trial)) > 0;
    (is_next ? next : others).push_back(std::move(trial));
  }
  rest = std::move(others);
  return next;
}

}  // namespace assay
