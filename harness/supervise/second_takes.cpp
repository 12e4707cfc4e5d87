#include "harness/supervise/second_takes.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

bool is_same(const PlannedTrial& a, const PlannedTrial& b) {
  return a.repeat == b.repeat && a.timing == b.timing && a.test.id() == b.test.id() &&
         a.lane == b.lane;
}

/// Width of the median's interval as a share of the median; infinite without an interval.
double relative_width(const Record& record) {
  if (!record.time_ci_low_s || !record.time_ci_high_s || !record.time_median_s) {
    return std::numeric_limits<double>::infinity();
  }
  return (*record.time_ci_high_s - *record.time_ci_low_s) / *record.time_median_s;
}

double taken_s(const SecondTakes::Held& held) { return held.first.record.wall_s.value_or(0); }

}  // namespace

bool SecondTakes::is_wanted(const Record& record) {
  return record.status == Status::pass && record.time_median_s.has_value() &&
         (record.contended.value_or(false) || record.throttled.value_or(false));
}

void SecondTakes::hold(const PlannedTrial& trial, Result first) {
  held_.push_back({trial, std::move(first)});
}

bool SecondTakes::holds(const PlannedTrial& trial) const {
  return std::ranges::any_of(held_, [&](const Held& held) { return is_same(held.trial, trial); });
}

std::vector<SecondTakes::Held> SecondTakes::take_unaffordable(double budget_s) {
  std::ranges::stable_sort(held_, std::ranges::greater(),
                           [](const Held& held) { return relative_width(held.first.record); });
  const auto is_unaffordable = [&](const Held& held) {
    if (taken_s(held) > budget_s) return true;
    budget_s -= taken_s(held);
    return false;
  };
  std::vector<Held> affordable;
  std::vector<Held> unaffordable;
  for (Held& held : held_) {
    (is_unaffordable(held) ? unaffordable : affordable).push_back(std::move(held));
  }
  held_ = std::move(affordable);
  return unaffordable;
}

double SecondTakes::wall_s() const {
  double sum_s = 0;
  for (const Held& held : held_) sum_s += taken_s(held);
  return sum_s;
}

std::vector<PlannedTrial> SecondTakes::trials() const {
  std::vector<PlannedTrial> all;
  for (const Held& held : held_) all.push_back(held.trial);
  return all;
}

SecondTakes::Held SecondTakes::take(const PlannedTrial& trial) {
  const auto found =
      std::ranges::find_if(held_, [&](const Held& held) { return is_same(held.trial, trial); });
  if (found == held_.end()) throw std::logic_error("no first take of this trial is held");
  Held held = std::move(*found);
  held_.erase(found);
  return held;
}

std::vector<SecondTakes::Held> SecondTakes::take_all() { return std::exchange(held_, {}); }

}  // namespace assay
