#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/files/stored_trials.h"

namespace assay {

/// Change of a trial from one run to the other.
enum class Change {
  unchanged,  // passes in both; or is skipped, or a known failure, in both
  lost,       // passed and no longer does; or was no failure and is one
  missing,    // only in the base
  added,      // only in the candidate
  mended,     // did not pass and does
  unmended,   // passes in neither
};
std::string_view name(Change change);

/// Comparison of the times of a trial that passed in both. No verdict: each is of one process.
enum class Speed {
  none,     // not compared: not timed or not right in both, or on no real device
  slower,   // the whole interval of the ratio is above 1 + margin: a suspect
  faster,   // the whole interval is below 1 / (1 + margin)
  within,   // the whole interval is between the two
  unclear,  // the interval holds one of the two, or a side has too few samples for an interval
};
std::string_view name(Speed speed);

/// Time of the candidate over time of the base: that of the medians, and the range of the
/// intervals.
struct Ratio {
  double value = 0;
  double low = 0;  // 0 if a side has no interval
  double high = 0;
};

/// Has an interval if both times have one.
Ratio ratio_of(const StoredTime& base, const StoredTime& cand);
/// Returns `unclear` if the ratio has no interval.
Speed speed_of(const Ratio& ratio, double margin);

struct ComparedTrial {
  const StoredTrial* base = nullptr;  // null where `added`
  const StoredTrial* cand = nullptr;  // null where `missing`
  Change change = Change::unchanged;
  Speed speed = Speed::none;
  Ratio ratio;  // value 0 if there is none
  /// Whether one implementation left both. Empty unless both passed on the same inputs.
  std::optional<bool> same_implementation;
  /// Whether both left the same bits. Empty as above.
  std::optional<bool> same_bits;

  const StoredTrial& either() const { return base != nullptr ? *base : *cand; }
  bool has_ratio() const { return ratio.value > 0; }
  bool has_interval() const { return ratio.low > 0; }
  bool is_disturbed() const;
  /// Other bits, by the same implementation or by another one, which may add in another order.
  bool left_other_bits(bool by_another) const {
    return same_bits == false && same_implementation == !by_another;
  }
  /// Returns whether it is lost, new and bad, or missing and was no skip.
  bool is_worse() const;
};

struct ComparisonOptions {
  double margin = 0.05;
  /// Compares machines: ratios, no suspects.
  bool hardware = false;
  /// The runs have the same seed, so outputs are comparable bit for bit.
  bool same_seed = false;
  /// Devices of the base whose counterpart has another id.
  std::vector<std::pair<std::string, std::string>> other_ids;
};

/// Every trial of the base in its order, then those that only the candidate has.
struct Comparison {
  std::vector<ComparedTrial> trials;
  bool any_in_common = false;

  std::size_t count(Change change) const;
  std::size_t count(Speed speed) const;
  /// Returns whether anything is worse. Nothing is missing if the runs have nothing in common.
  bool is_worse() const;
  /// Returns whether any trial was judged in both, and not just skipped.
  bool compares_anything() const;
};

/// Refers to the trials of both owners.
Comparison compare_trials(const StoredTrials& base, const StoredTrials& cand,
                          const ComparisonOptions& options);

}  // namespace assay
