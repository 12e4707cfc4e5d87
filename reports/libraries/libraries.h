#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/statistics/interval.h"
#include "reports/files/stored_trials.h"
#include "reports/text/status_counts.h"

namespace assay {

/// Kernels whose results stand in one column: those of one run.
struct LibraryRun {
  std::string kernels;  // "oneDNN 2.6.3"
  const StoredTrials& trials;
  std::set<std::string> devices;  // that the run had
};

/// Outcomes of some trials. A trial is one case on one device, timed one way or only checked.
struct LibraryOutcomes : StatusCounts {
  std::int64_t asked = 0;        // that any of the runs has, on devices that this one had too
  std::int64_t known = 0;        // of the wrong and broken: accepted as known
  std::int64_t not_offered = 0;  // the kernels lack this op and dtype, so the run has no row

  void add(const StoredTrial* trial);
  LibraryOutcomes& operator+=(const LibraryOutcomes& other);
};

/// Times relative to the first run's, over the trials that both timed and both got right.
struct LibraryTimes {
  std::size_t trials = 0;
  double ratio = 0;                              // geometric mean; above 1 is slower; 0: none
  std::optional<statistics::Interval> interval;  // 95%, over the trials; none for a single one
  std::size_t slower = 0;     // trials of which the whole interval of the ratio is above 1
  std::size_t faster = 0;     // or below
  std::size_t disturbed = 0;  // trials that were contended or throttled on a side
};

struct LibraryCell {
  LibraryOutcomes outcomes;
  LibraryTimes times;  // none for the first run
};

/// One op in one dtype on one device, or several together.
struct LibraryRow {
  std::string device;
  std::string suite;
  std::string op;
  std::string dtype;
  std::vector<LibraryCell> cells;  // one for each run
};

/// The runs side by side. Each of them belongs to one machine, and was asked the same.
struct LibraryTable {
  std::vector<LibraryRow> rows;         // in the order of their texts
  std::vector<LibraryCell> all;         // over all rows, one for each run
  std::vector<std::size_t> unanswered;  // runs that judged no trial that the first judged too
};

/// Takes at least one run; the first is the baseline.
LibraryTable compare_libraries(std::span<const LibraryRun> runs);

}  // namespace assay
