#include "session/plan/estimate.h"

#include <algorithm>

namespace assay {
namespace {

// Rates of a modest machine, for planning only. The reference computes a part of a large product.
// Bytes decide where there are few operations an element: inputs are drawn one by one.
constexpr double reference_flops_per_s = 2e10;
constexpr double input_bytes_per_s = 4e8;
constexpr double fixed_s = 0.002;

// Share of a plan after which its pace weighs as much as the estimate. The first trials are small:
// their time is mostly the start of a worker.
constexpr double prior_share = 0.05;

}  // namespace

double estimate_s(std::span<const PlannedTrial> plan, double cap_s) {
  double total_s = 0;
  for (const PlannedTrial& trial : plan) {
    if (!trial.skip_reason.empty()) continue;
    const Signature& s = trial.test.op.signature;
    const double verify_s =
        2 * s.ranks * (s.flops / reference_flops_per_s + s.bytes / input_bytes_per_s);
    total_s += fixed_s + verify_s + (trial.timing.empty() ? 0 : cap_s);
  }
  return total_s;
}

double time_left_s(double spent_s, double done_s, double total_s) {
  const double prior_s = prior_share * total_s;
  if (prior_s <= 0) return 0;
  return (spent_s + prior_s) / (done_s + prior_s) * std::max(0.0, total_s - done_s);
}

WorkLeft::WorkLeft(std::span<const PlannedTrial> plan, double cap_s, double second_takes_share)
    : second_takes_share_(second_takes_share) {
  for (const PlannedTrial& trial : plan) {
    const double cost_s = estimate_s(std::span(&trial, 1), cap_s);
    costs_s_[{trial.test.id(), lane_text(trial)}] = cost_s;
    total_s_ += cost_s;
  }
}

WorkLeft::Key WorkLeft::key(const Record& record) {
  return {record.case_id, record.device, record.timing, record.repeat};
}

void WorkLeft::add(const Record& record) {
  const auto cost = costs_s_.find({record.case_id, record.device});
  if (cost != costs_s_.end()) done_s_ += cost->second;
}

void WorkLeft::hold(const Record& first_take) {
  held_s_[key(first_take)] = first_take.wall_s.value_or(0);
  add(first_take);
}

bool WorkLeft::finish(const Record& record) {
  if (held_s_.erase(key(record)) > 0 || record.attempt > 1) return false;
  add(record);
  return true;
}

double WorkLeft::seconds(double spent_s) const {
  const double plan_s = time_left_s(spent_s, done_s_, total_s_);
  double held_s = 0;
  for (const auto& [trial, first_take_s] : held_s_) held_s += first_take_s;
  return plan_s + std::min(held_s, second_takes_share_ * (spent_s + plan_s));
}

}  // namespace assay
