#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/record.h"

namespace assay {

/// A trial and its row in the results.csv of its run.
struct TrialRow {
  const Record* trial = nullptr;
  std::size_t row = 0;
};

/// Finds the one case of an op whose rates represent it, on every device and in every report. It is
/// one that most devices have a rate for, among these the one that tells most, then the last added.
class LargestCase {
 public:
  /// `columns`: devices, or other columns of a report.
  explicit LargestCase(std::size_t columns) : columns_(columns) {}

  /// Ignores a trial without a rate. The first of several trials of a case in a column counts.
  void add(TrialRow trial, std::size_t column);

  /// Returns its trial in each column; empty if the op has no rate anywhere.
  std::vector<TrialRow> trials() const;

 private:
  std::size_t columns_;
  std::vector<std::vector<TrialRow>> rated_;  // one per case and timing, by column
  std::map<std::pair<std::string, std::string>, std::size_t> index_;
};

/// Returns any of them: all are of one case.
const Record* any_of(const std::vector<TrialRow>& trials);

}  // namespace assay
