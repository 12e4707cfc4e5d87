#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "harness/plan/plan.h"
#include "harness/records/record.h"

namespace assay {

/// Estimates the seconds of a plan from the measuring time and the work of each trial.
double estimate_s(std::span<const PlannedTrial> plan, double cap_s);

/// Estimates the time left of `total_s` after work estimated at `done_s` took `spent_s`. The pace
/// so far scales the estimate, with little weight at first.
double time_left_s(double spent_s, double done_s, double total_s);

/// Work of a plan that is left, as its trials end.
class WorkLeft {
 public:
  /// Second takes of disturbed trials get up to `second_takes_share` of the time.
  WorkLeft(std::span<const PlannedTrial> plan, double cap_s, double second_takes_share);

  /// A first take that will be taken again, if there is time: its trial is done, without a row.
  void hold(const Record& first_take);
  /// A row. Returns whether its trial is done only now: not by an earlier attempt, or held.
  bool finish(const Record& record);

  /// Number of trials that wait for their second take.
  std::size_t held() const { return held_s_.size(); }
  /// Estimates the time left of the plan and of second takes after `spent_s`.
  double seconds(double spent_s) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::int64_t>;
  static Key key(const Record& record);
  void add(const Record& record);

  std::map<std::pair<std::string, std::string>, double> costs_s_;  // by case and device
  double total_s_ = 0;
  double done_s_ = 0;
  double second_takes_share_;
  std::map<Key, double> held_s_;  // time of each first take
};

}  // namespace assay
