#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/record.h"

namespace assay {

/// One record for each trial, in the order of their first appearance: the last of its attempts. A
/// pass after an attempt that was wrong or broken is `flaky`, however that row calls itself.
std::vector<Record> outcomes(std::span<const Record> records);

/// What a status means for the run.
enum class StatusClass { right, wrong, broken, skipped };
StatusClass class_of(Status status);

/// How many outcomes have each status and each class; none is 0.
struct Tally {
  std::map<Status, std::int64_t> by_status;
  std::map<StatusClass, std::int64_t> by_class;
  std::int64_t total = 0;

  void add(Status status);
  std::int64_t count(Status status) const;
  std::int64_t count(StatusClass of_class) const;
  /// "118 pass, 2 skip": the statuses that occur.
  std::string text() const;
};

Tally tally(std::span<const Record> outcomes);

/// The one word and the one sentence that say what a run showed.
struct RunVerdict {
  std::string word;
  std::string why;
  bool passed = false;
  bool shown_by_a_result = false;  // or else no single result says that the run did not pass
};

/// Only a run that is complete, ended with exit code 0 and holds a right result has passed.
RunVerdict run_verdict(const RunInfo& run, const Tally& tally);

}  // namespace assay
