#include "reports/page/times.h"

#include "reports/text/rate.h"

namespace assay::page {
namespace {

StoredTime time_of(const Record& trial) {
  return {.median_s = *trial.time_median_s,
          .low_s = trial.time_ci_low_s.value_or(0),
          .high_s = trial.time_ci_high_s.value_or(0)};
}

}  // namespace

Times::Times(const Content& content) : content_(content), columns_(content.columns.size()) {
  const std::vector<RunSource>& runs = content.input.runs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].trials.size(); ++i) {
      const Record& trial = runs[r].trials[i];
      if (trial.status != Status::pass || shown_time_s(trial).value_or(0) <= 0) continue;
      const std::size_t column = content.columns.of(r, trial.device);
      columns_[column].emplace(key(column, trial), TrialRow{&trial, runs[r].rows[i]});
    }
  }
}

Times::Key Times::key(std::size_t column, const Record& trial) const {
  const bool is_together = content_.columns[column].is_together();
  return {trial.case_id, trial.timing, is_together ? trial.device : ""};
}

std::optional<Ratio> Times::ratio(std::size_t column, const Record& trial, std::size_t base) const {
  const auto found = columns_[base].find(key(column, trial));
  if (found == columns_[base].end()) return std::nullopt;
  return ratio_of(time_of(*found->second.trial), time_of(trial));
}

}  // namespace assay::page
