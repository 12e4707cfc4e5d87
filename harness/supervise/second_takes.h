#pragma once

#include <optional>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/records/record.h"

namespace assay {

/// Passes of one lane whose times were disturbed, held back until the lane has no other trial: a
/// later take may find a quieter machine. The second take counts, whatever it says: choosing the
/// better of two would favour short times.
class SecondTakes {
 public:
  /// Whether the times of this result were disturbed by others, or by the device's own throttling.
  static bool is_wanted(const Record& record);

  void hold(const PlannedTrial& trial, Result first);
  bool empty() const { return held_.empty(); }
  /// Whether this trial is the second take of a held one.
  bool holds(const PlannedTrial& trial) const;

  struct Held {
    PlannedTrial trial;
    Result first;
  };
  /// Takes out those that do not fit into `budget_s`; those with the widest intervals go first
  /// into it.
  std::vector<Held> take_unaffordable(double budget_s);
  /// Time that the first takes of those held took.
  double wall_s() const;
  /// Trials to be taken again.
  std::vector<PlannedTrial> trials() const;
  /// Takes out the first take of a trial.
  Held take(const PlannedTrial& trial);
  std::vector<Held> take_all();

 private:
  std::vector<Held> held_;
};

}  // namespace assay
