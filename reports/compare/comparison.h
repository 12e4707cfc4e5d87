#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/files/stored_trials.h"

namespace assay {

/// What became of a trial from one run to the other.
enum class Change {
  unchanged,  // passes in both; or is skipped, or a known failure, in both
  lost,       // passed and no longer does; or was no failure and is one
  missing,    // is in the base alone
  added,      // is in the candidate alone
  mended,     // did not pass and does
  unmended,   // passes in neither
};
std::string_view name(Change change);

/// What the times of a trial that passed in both say. No verdict: each is of one process.
enum class Speed {
  none,     // not compared: not timed or not right in both, or on no real device
  slower,   // the whole interval of the ratio is above 1 + margin: a suspect
  faster,   // the whole interval is below 1 / (1 + margin)
  within,   // the whole interval is between the two
  unclear,  // the interval holds one of the two, or a side has too few samples for an interval
};
std::string_view name(Speed speed);

/// Time of the candidate over time of the base, from the medians, and what their intervals allow.
struct Ratio {
  double value = 0;
  double low = 0;  // 0 where a side has no interval
  double high = 0;
};

/// With an interval where both times have one.
Ratio ratio_of(const StoredTime& base, const StoredTime& cand);
/// `unclear` where the ratio has no interval.
Speed speed_of(const Ratio& ratio, double margin);

struct ComparedTrial {
  const StoredTrial* base = nullptr;  // null where `added`
  const StoredTrial* cand = nullptr;  // null where `missing`
  Change change = Change::unchanged;
  Speed speed = Speed::none;
  Ratio ratio;  // of value 0 where there is none

  const StoredTrial& either() const { return base != nullptr ? *base : *cand; }
  bool has_ratio() const { return ratio.value > 0; }
  bool has_interval() const { return ratio.low > 0; }
  bool is_disturbed() const;
  /// Worse by what it is: lost, missing without having been a mere skip, or new and bad.
  bool is_worse() const;
};

struct ComparisonOptions {
  double margin = 0.05;
  /// Machines are compared: ratios, no suspects.
  bool hardware = false;
  /// Devices of the base whose counterpart has another id.
  std::vector<std::pair<std::string, std::string>> other_ids;
};

/// Every trial of the base in its order, then those that are in the candidate alone.
struct Comparison {
  std::vector<ComparedTrial> trials;
  bool any_in_common = false;

  std::size_t count(Change change) const;
  std::size_t count(Speed speed) const;
  /// Whether anything is worse than it was. Where nothing is in common, nothing can be missing.
  bool is_worse() const;
  /// Whether any trial was judged in both, and not just skipped.
  bool compares_anything() const;
};

/// The trials stay their owners'.
Comparison compare_trials(const StoredTrials& base, const StoredTrials& cand,
                          const ComparisonOptions& options);

}  // namespace assay
