#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/plan.h"

namespace assay {

/// A plan in the order in which a budget should take it. `first` touches every suite, op and dtype
/// on every lane of devices once. `rest` follows in rounds over the same, the cheapest first.
struct CoverageOrder {
  std::vector<PlannedTrial> first;
  std::vector<PlannedTrial> rest;
};

/// Orders a plan. The first trial of each suite, op, dtype and lane is the most telling one that
/// its budget allows: the costliest that takes at most half of an equal share, else the cheapest.
CoverageOrder order_by_coverage(std::span<const PlannedTrial> plan, double budget_s,
                                const std::function<double(const PlannedTrial&)>& cost_s);

/// Moves the next trial of each of these cells out of `rest`.
std::vector<PlannedTrial> take_next(std::vector<PlannedTrial>& rest,
                                    const std::set<std::string>& cells);

/// "linear/linear/bf16 on cpu": one cell that a budget must touch.
std::string coverage_cell(const PlannedTrial& trial);

}  // namespace assay
