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

namespace assay {

/// What must be the same for two times to stand in one series.
struct SeriesKey {
  std::string host;
  std::string device;
  std::string device_name;  // the product: a machine may be given another
  std::string case_id;
  std::string timing;
  std::string settings;  // of the run: those that change times and are not alike in all runs
  auto operator<=>(const SeriesKey&) const =
      default;  // NOLINT(modernize-use-nullptr): misread by 14
};

/// What one run has to say of a series.
struct HistoryEntry {
  std::size_t run = 0;             // of History::runs
  std::optional<double> median_s;  // of several repeats the median; none where it is a gap
  std::optional<double> reference_median_s;
  std::optional<std::size_t> reference_run;
  std::optional<double> value;  // seconds, or their ratio to the reference: a point of the series
  std::size_t segment = 0;      // of a point, from 1: the level it lies on
  std::string missing;          // why there is no value
};

/// A level ends and another begins: indices into HistorySeries::points.
struct HistoryChange {
  statistics::ChangePoint at;
  double before = 0;  // the medians of the two levels
  double after = 0;
  double ratio() const { return after / before; }
};

struct HistorySeries {
  SeriesKey key;
  std::vector<HistoryEntry> entries;     // in the order of time
  std::vector<HistoryEntry> references;  // what runs of the reference build measured
  std::vector<std::size_t> points;       // those of the entries that have a value
  std::vector<HistoryChange> changes;
  bool too_short = false;  // fewer points than two smallest segments: no change could be found

  const HistoryEntry& point(std::size_t i) const { return entries[points[i]]; }
  std::vector<double> values() const;
  /// The points around a change: at the first the old level still holds, at the last the new one
  /// already does, at 95%.
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
  std::vector<bool> is_reference;     // of each run
  std::vector<HistorySeries> series;  // in the order of their keys
  bool relative = false;              // values are ratios to the reference, else seconds
};

/// Puts runs in the order of time and their rows into series.
class HistoryBuilder {
 public:
  /// `reference` begins the git revision or the build id of the runs to which others are compared;
  /// empty: none. Throws UsageError where no run is of that build.
  HistoryBuilder(std::vector<StoredRun> runs, const std::string& reference);

  const History& history() const { return history_; }

  /// The rows of run number `run`, each run once and in order. A case that was not right is a gap;
  /// what was only checked is in no series. `wanted` chooses.
  void add(std::size_t run, std::span<const Record> records,
           const std::function<bool(const SeriesKey&)>& wanted);

  /// Takes out run number `run`, whose rows cannot be read; those behind it move up.
  void drop(std::size_t run);

  /// Those of all rows so far that were timed, wanted or not.
  const std::vector<std::string>& devices() const { return devices_; }

  /// With a reference each time is divided by the reference's that is nearest in time, at most
  /// `within_s` away, on the same machine; one without is left out.
  History finish(double within_s);

 private:
  HistorySeries& series_of(const SeriesKey& key);

  History history_;
  std::vector<std::string> settings_;  // of each run
  std::map<SeriesKey, std::size_t> places_;
  std::vector<std::string> devices_;
};

struct FoundChange {
  const HistorySeries* series;
  const HistoryChange* change;
};
/// All changes: the newest first, of those that begin with the same run the largest.
std::vector<FoundChange> newest_changes(const History& history);

/// Finds the changes of each series, several series at a time.
void find_changes(History& history, const statistics::EDivisiveOptions& options);

}  // namespace assay
