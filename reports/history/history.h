#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/statistics/e_divisive.h"
#include "reports/files/stored_run.h"
#include "reports/text/quality.h"

namespace assay {

/// Key of a series: two times of one series agree in all of it.
struct SeriesKey {
  std::string host;
  std::string device;
  std::string device_name;  // the product: a machine may be given another
  std::string case_id;
  std::string timing;
  std::string settings;  // settings that change times and differ between runs
  auto operator<=>(const SeriesKey&) const =
      default;  // NOLINT(modernize-use-nullptr): misread by 14
};

/// Entry of one run in a series.
struct HistoryEntry {
  std::size_t run = 0;             // index into History::runs
  std::optional<double> median_s;  // median of the repeats; none for a gap
  std::optional<double> reference_median_s;
  std::optional<std::size_t> reference_run;
  std::optional<double> value;  // seconds, or their ratio to the reference: a point of the series
  std::size_t segment = 0;      // level that a point lies on, from 1
  std::string missing;          // why there is no value
};

/// End of a level and begin of another: indices into HistorySeries::points.
struct HistoryChange {
  statistics::ChangePoint at;
  double before = 0;  // the medians of the two levels
  double after = 0;
  double ratio() const { return after / before; }
};

struct HistorySeries {
  SeriesKey key;
  std::vector<HistoryEntry> entries;     // in the order of time
  std::vector<HistoryEntry> references;  // measured by runs of the reference build
  std::vector<std::size_t> points;       // entries that have a value
  std::vector<HistoryChange> changes;
  bool too_short = false;  // fewer points than two smallest segments: no change can be found

  const HistoryEntry& point(std::size_t i) const { return entries[points[i]]; }
  std::vector<double> values() const;
  /// Points around a change: at 95%, the first still has the old level and the last has the new
  /// one.
  const HistoryEntry& last_before(const HistoryChange& change) const {
    return point(change.at.earliest - 1);
  }
  const HistoryEntry& first_after(const HistoryChange& change) const {
    return point(change.at.latest);
  }
};

/// Runs as series.
struct History {
  std::vector<StoredRun> runs;        // in the order of time
  std::vector<bool> is_reference;     // one per run
  std::vector<Quality> quality;       // of the times of each run
  std::vector<HistorySeries> series;  // in the order of their keys
  bool relative = false;              // values are ratios to the reference, else seconds
};

/// Puts runs in the order of time and their rows into series.
class HistoryBuilder {
 public:
  /// `reference` is the beginning of the git revision or the build id of the runs to which others
  /// are compared; empty: none. Throws UsageError if no run is of that build.
  HistoryBuilder(std::vector<StoredRun> runs, const std::string& reference);

  const History& history() const { return history_; }

  /// Adds the rows of run number `run`, each run once and in order. A case that was not right is a
  /// gap; cases that were only checked are in no series. `wanted` chooses.
  void add(std::size_t run, std::span<const Record> records,
           const std::function<bool(const SeriesKey&)>& wanted);

  /// Removes run number `run`, whose rows cannot be read; those behind it move up.
  void drop(std::size_t run);

  /// Devices of all timed rows so far, wanted or not.
  const std::vector<std::string>& devices() const { return devices_; }

  /// Divides each time by the nearest one of the reference, at most `within_s` away, on the same
  /// machine. A time without a reference is left out.
  History finish(double within_s);

 private:
  HistorySeries& series_of(const SeriesKey& key);

  History history_;
  std::vector<std::string> settings_;  // one per run
  std::map<SeriesKey, std::size_t> places_;
  std::vector<std::string> devices_;
};

struct FoundChange {
  const HistorySeries* series;
  const HistoryChange* change;
};
/// Returns all changes, the newest first, then the largest.
std::vector<FoundChange> newest_changes(const History& history);

/// Finds the changes of each series, several series at a time.
void find_changes(History& history, const statistics::EDivisiveOptions& options);

}  // namespace assay
