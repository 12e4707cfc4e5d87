#include "reports/libraries/libraries.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/statistics/mean_interval.h"
#include "kernels/device/device_id.h"
#include "reports/compare/comparison.h"

namespace assay {
namespace {

using RowKey = std::tuple<std::string, std::string, std::string, std::string>;

RowKey key_of(const StoredTrial& trial) {
  const TrialGroup& group = *trial.group;
  return {group.device, group.suite, group.op, group.dtype};
}

const StoredTrial* find_in(const LibraryRun& run, const StoredTrial& trial) {
  const TrialGroup& group = *trial.group;
  const std::uint32_t index = run.trials.find(trial.case_id, group.device, group.timing);
  return index == StoredTrials::absent ? nullptr : &run.trials.trials()[index];
}

bool has_devices(const LibraryRun& run, const std::string& lane) {
  return std::ranges::all_of(
      split_lane(lane), [&](const std::string& device) { return run.devices.contains(device); });
}

/// Returns each trial once: of the first run that has it.
std::vector<const StoredTrial*> all_trials(std::span<const LibraryRun> runs) {
  std::vector<const StoredTrial*> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const StoredTrial& trial : runs[i].trials.trials()) {
      const bool is_new = std::ranges::none_of(runs.first(i), [&](const LibraryRun& earlier) {
        return find_in(earlier, trial) != nullptr;
      });
      if (is_new) all.push_back(&trial);
    }
  }
  return all;
}

/// Ratios of the trials of one cell.
struct Ratios {
  std::vector<double> logs;
  LibraryTimes times;

  void add(const ComparedTrial& trial) {
    logs.push_back(std::log(trial.ratio.value));
    times.slower += trial.speed == Speed::slower ? 1 : 0;
    times.faster += trial.speed == Speed::faster ? 1 : 0;
    times.disturbed += trial.is_disturbed() ? 1 : 0;
  }
  LibraryTimes finish() && {
    times.trials = logs.size();
    if (logs.empty()) return times;
    const statistics::Mean mean = statistics::mean_with_interval(logs);
    times.ratio = std::exp(mean.value);
    if (mean.interval) {
      times.interval = {std::exp(mean.interval->low), std::exp(mean.interval->high)};
    }
    return times;
  }
};

void count_outcomes(std::span<const LibraryRun> runs, std::map<RowKey, LibraryRow>& rows) {
  for (const StoredTrial* trial : all_trials(runs)) {
    const RowKey key = key_of(*trial);
    LibraryRow& row = rows[key];
    if (row.cells.empty()) {
      std::tie(row.device, row.suite, row.op, row.dtype) = key;
      row.cells.resize(runs.size());
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!has_devices(runs[i], row.device)) continue;
      row.cells[i].outcomes.add(find_in(runs[i], *trial));
    }
  }
}

/// Fills the times of run number `i`.
void compare_times(std::span<const LibraryRun> runs, std::size_t i,
                   std::map<RowKey, LibraryRow>& rows, LibraryTable& table) {
  const Comparison comparison = compare_trials(runs.front().trials, runs[i].trials, {.margin = 0});
  if (!comparison.compares_anything()) table.unanswered.push_back(i);
  std::map<RowKey, Ratios> ratios;
  Ratios all;
  for (const ComparedTrial& trial : comparison.trials) {
    if (!trial.has_ratio()) continue;
    ratios[key_of(*trial.base)].add(trial);
    all.add(trial);
  }
  for (auto& [key, of_row] : ratios) rows.at(key).cells[i].times = std::move(of_row).finish();
  table.all[i].times = std::move(all).finish();
}

}  // namespace

void LibraryOutcomes::add(const StoredTrial* trial) {
  ++asked;
  if (trial == nullptr) {
    ++not_offered;
    return;
  }
  known += trial->accepted ? 1 : 0;
  StatusCounts::add(trial->status);
}

LibraryOutcomes& LibraryOutcomes::operator+=(const LibraryOutcomes& other) {
  asked += other.asked;
  right += other.right;
  wrong += other.wrong;
  broken += other.broken;
  known += other.known;
  skipped += other.skipped;
  not_offered += other.not_offered;
  return *this;
}

LibraryTable compare_libraries(std::span<const LibraryRun> runs) {
  LibraryTable table;
  table.all.resize(runs.size());
  std::map<RowKey, LibraryRow> rows;
  count_outcomes(runs, rows);
  for (std::size_t i = 1; i < runs.size(); ++i) compare_times(runs, i, rows, table);
  for (auto& [key, row] : rows) {
    for (std::size_t i = 0; i < runs.size(); ++i) table.all[i].outcomes += row.cells[i].outcomes;
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace assay
