#include "reports/history/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "harness/records/replay.h"
#include "harness/statistics/order_statistics.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/text/outcomes.h"
#include "reports/text/rate.h"

namespace assay {
namespace {

void check_reference(const History& history, const std::string& reference) {
  std::vector<std::string> revisions;
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    if (history.is_reference[i]) return;
    const std::string& revision = history.runs[i].git_revision;
    if (std::ranges::count(revisions, revision) == 0) revisions.push_back(revision);
  }
  throw UsageError("--reference: " + unknown_name("build", reference, revisions));
}

/// Times of all repeats that passed.
std::map<std::tuple<std::string, std::string, std::string>, std::vector<double>> times_of(
    std::span<const Record> records) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<double>> times;
  for (const Record& record : records) {
    if (record.status != Status::pass || !shown_time_s(record)) continue;
    times[{record.case_id, record.device, record.timing}].push_back(*shown_time_s(record));
  }
  return times;
}

/// Settings of a run that change times, in order: "--overlap-timings", "OMP_NUM_THREADS=1". The
/// seed does not, as inputs of any seed are alike; nor do the visible devices and the folders of
/// modules. Kernels of others are told by their file, so that a series goes on over its versions.
std::vector<std::string> settings_of_times(const RunInfo& run) {
  constexpr std::array<std::string_view, 3> of_no_time{"CUDA_VISIBLE_DEVICES", "ASSAY_CUDA_LIBS",
                                                       "ASSAY_BACKEND_PATH"};
  constexpr std::array<std::string_view, 2> flags{"--overlap-timings", "--fresh-inputs"};
  std::vector<std::string> settings;
  std::ranges::copy_if(run.command_line, std::back_inserter(settings),
                       [&](const auto& word) { return std::ranges::count(flags, word) > 0; });
  for (const auto& [name, value] : run.environment) {
    if (std::ranges::count(of_no_time, name) == 0) {
      settings.push_back(shell_word(name + "=" + value));
    }
  }
  if (const auto kernels = run.kernels.path.filename().string(); !kernels.empty()) {
    settings.push_back(shell_word("--kernels=" + kernels));
  }
  std::ranges::sort(settings);
  return settings;
}

/// Returns the settings of each run, without those that all runs have.
std::vector<std::string> distinguishing_settings(const std::vector<StoredRun>& runs) {
  std::vector<std::vector<std::string>> all;
  std::map<std::string, std::size_t> counts;
  for (const StoredRun& run : runs) {
    for (const std::string& one : all.emplace_back(settings_of_times(run))) ++counts[one];
  }
  std::vector<std::string> texts;
  for (std::vector<std::string>& settings : all) {
    std::erase_if(settings, [&](const std::string& one) { return counts[one] == runs.size(); });
    texts.push_back(join(settings, " "));
  }
  return texts;
}

std::string why_no_time(const Record& outcome) {
  if (!outcome.stand_in.empty()) return outcome.stand_in + ": no hardware's time";
  if (outcome.status == Status::pass) return "no time";
  const std::string word(name(outcome.status));
  return outcome.reason.empty() ? word : word + ": " + outcome.reason;
}

/// Returns the entry nearest in time, the earlier of two; nullptr if there is none.
const HistoryEntry* nearest(const std::vector<HistoryEntry>& references,
                            const std::vector<StoredRun>& runs, double time_s) {
  const auto started_s = [&](const HistoryEntry& entry) { return runs[entry.run].started_s; };
  const auto later = std::ranges::lower_bound(references, time_s, {}, started_s);
  if (later == references.begin()) return references.empty() ? nullptr : &*later;
  const auto earlier = std::prev(later);
  if (later == references.end()) return &*earlier;
  return started_s(*later) - time_s < time_s - started_s(*earlier) ? &*later : &*earlier;
}

void compare_with_reference(HistorySeries& series, const History& history, double within_s) {
  for (HistoryEntry& entry : series.entries) {
    if (!entry.median_s) continue;
    const double time_s = history.runs[entry.run].started_s;
    const HistoryEntry* reference = nearest(series.references, history.runs, time_s);
    if (reference == nullptr ||
        !(std::abs(history.runs[reference->run].started_s - time_s) <= within_s)) {
      entry.missing = fmt::format("no reference within {:g} h", within_s / 3600);
      continue;
    }
    entry.reference_median_s = reference->median_s;
    entry.reference_run = reference->run;
    entry.value = *entry.median_s / *reference->median_s;
  }
}

}  // namespace

std::vector<double> HistorySeries::values() const {
  std::vector<double> values;
  for (const std::size_t i : points) values.push_back(*entries[i].value);
  return values;
}

HistoryBuilder::HistoryBuilder(std::vector<StoredRun> runs, const std::string& reference) {
  std::ranges::sort(runs, {}, [](const StoredRun& run) {
    return std::tie(run.started_s, run.run_id, run.directory);
  });
  history_.relative = !reference.empty();
  history_.runs = std::move(runs);
  for (const StoredRun& run : history_.runs) {
    history_.is_reference.push_back(history_.relative && (run.git_revision.starts_with(reference) ||
                                                          run.build_id.starts_with(reference)));
  }
  history_.quality.resize(history_.runs.size());
  if (history_.relative) check_reference(history_, reference);
  settings_ = distinguishing_settings(history_.runs);
}

HistorySeries& HistoryBuilder::series_of(const SeriesKey& key) {
  const auto [at, is_new] = places_.emplace(key, history_.series.size());
  if (is_new) history_.series.emplace_back().key = key;
  return history_.series[at->second];
}

void HistoryBuilder::add(std::size_t run, std::span<const Record> records,
                         const std::function<bool(const SeriesKey&)>& wanted) {
  const auto times = times_of(records);
  history_.quality[run] = quality_of(records);
  for (const Record& outcome : Outcomes(records).trials()) {
    if (outcome.timing.empty()) continue;
    const SeriesKey key{.host = history_.runs[run].host,
                        .device = outcome.device,
                        .device_name = outcome.device_name,
                        .case_id = outcome.case_id,
                        .timing = outcome.timing,
                        .settings = settings_[run]};
    if (std::ranges::count(devices_, key.device) == 0) devices_.push_back(key.device);
    if (!wanted(key)) continue;
    HistoryEntry entry{.run = run};
    const auto found = times.find({key.case_id, key.device, key.timing});
    if (outcome.status == Status::pass && found != times.end()) {
      entry.median_s = statistics::median(found->second);
      if (!(*entry.median_s > 0)) entry.median_s.reset();
    }
    if (!entry.median_s) entry.missing = why_no_time(outcome);
    HistorySeries& series = series_of(key);
    (history_.is_reference[run] ? series.references : series.entries).push_back(std::move(entry));
  }
}

void HistoryBuilder::drop(std::size_t run) {
  const auto at = static_cast<std::ptrdiff_t>(run);
  history_.runs.erase(history_.runs.begin() + at);
  history_.is_reference.erase(history_.is_reference.begin() + at);
  history_.quality.erase(history_.quality.begin() + at);
  settings_.erase(settings_.begin() + at);
}

History HistoryBuilder::finish(double within_s) {
  std::erase_if(history_.series,
                [](const HistorySeries& series) { return series.entries.empty(); });
  std::ranges::sort(history_.series, {}, &HistorySeries::key);
  for (HistorySeries& series : history_.series) {
    if (history_.relative) {
      std::erase_if(series.references,
                    [](const HistoryEntry& reference) { return !reference.median_s; });
      compare_with_reference(series, history_, within_s);
    } else {
      for (HistoryEntry& entry : series.entries) entry.value = entry.median_s;
    }
    for (std::size_t i = 0; i < series.entries.size(); ++i) {
      if (series.entries[i].value) series.points.push_back(i);
    }
  }
  places_.clear();
  return std::move(history_);
}

}  // namespace assay
