#pragma once

#include <boost/functional/hash.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <istream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "harness/records/record.h"
#include "reports/text/key_figures.h"

namespace assay {

/// Time of one launch. Several repeats give the median of their medians, and the envelope of their
/// intervals.
struct StoredTime {
  double median_s = 0;
  double low_s = 0;  // 95% interval of the median within one process; 0 where a repeat has none
  double high_s = 0;
  bool contended = false;  // any of the repeats
  bool throttled = false;

  bool has_interval() const { return low_s > 0; }
};

/// Fields that the trials of one op on one device have in common.
struct TrialGroup {
  std::string suite;
  std::string op;
  std::string dtype;
  std::string device;
  std::string timing;

  bool operator==(const TrialGroup&) const = default;
  bool operator<(const TrialGroup& other) const {
    const auto all = [](const TrialGroup& group) {
      return std::tie(group.suite, group.op, group.dtype, group.device, group.timing);
    };
    return all(*this) < all(other);
  }
};

/// Outcome of one trial in a stored run, by the rules of reports/text/trial_fold.h.
struct StoredTrial {
  std::string case_id;
  const TrialGroup* group = nullptr;  // the owner's
  std::string reason;                 // empty for a plain pass
  std::int64_t repeats = 0;
  std::optional<StoredTime> time;  // time of the repeats that passed
  Status status = Status::error;
  bool accepted = false;     // an expected failure
  bool is_stand_in = false;  // ran on a stand-in for a device
  /// Hash of the outcome of a pass; 0: not known.
  std::uint64_t output_hash = 0;
  const std::string* implementation = nullptr;  // that left it; the owner's, null where not known

  bool passed() const { return status == Status::pass && !accepted; }
  bool is_bad() const;
};

/// Value of a key figure by a trial that passed: the median of its repeats.
struct TrialMeasure {
  std::uint32_t trial = 0;   // index
  std::uint32_t figure = 0;  // index into key_figures()
  KeyMeasure measure;
};

struct ComparedCells;

/// The trials of one results.csv, reduced to the needs of comparisons: a million rows take about
/// 400 MiB. Rows may stand in any order.
class StoredTrials {
 public:
  /// Throws UsageError("NAME:LINE:COLUMN: why"), also for a key that is there twice.
  StoredTrials(std::istream& text, std::string_view name);
  explicit StoredTrials(const std::filesystem::path& path);
  StoredTrials(const StoredTrials&) = delete;
  StoredTrials& operator=(const StoredTrials&) = delete;

  /// Returns the trials in the order of their first rows.
  const std::deque<StoredTrial>& trials() const { return trials_; }

  /// Returns the measures of key figures, of hardware alone, by trial and figure.
  const std::vector<TrialMeasure>& measures() const { return measures_; }

  /// Returns the product's name of a device or lane; empty if no row has it.
  const std::string& product(const std::string& device) const;

  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
  /// Returns the index of a trial in `trials`, or `absent`.
  std::uint32_t find(std::string_view case_id, std::string_view device,
                     std::string_view timing) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // as in find()

  std::uint32_t add(std::string_view case_id, const TrialGroup& group);
  void read(std::istream& text, std::string_view name);
  void add_measures(ComparedCells& cells, std::uint32_t trial);
  void finish_measures();

  std::set<TrialGroup> groups_;
  std::set<std::string> implementations_;
  std::deque<StoredTrial> trials_;
  std::vector<TrialMeasure> measures_;
  std::map<std::string, std::string> products_;                     // by device
  std::unordered_map<Key, std::uint32_t, boost::hash<Key>> index_;  // the views are of trials_
};

}  // namespace assay
