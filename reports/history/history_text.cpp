#include "reports/history/history_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "harness/records/printable.h"
#include "reports/history/history_causes.h"
#include "reports/text/si.h"
#include "reports/text/text_table.h"

namespace assay {
namespace {

/// Length limit of lists that grow with the number of runs: the CSV has them whole.
constexpr std::size_t max_listed = 20;

std::string run_name(const StoredRun& run) {
  return fmt::format("{} ({})", run.directory.string(), run.git_revision);
}

std::string changes_table(const History& history) {
  const std::vector<FoundChange> all = newest_changes(history);
  if (all.empty()) return {};
  std::vector<std::vector<std::string>> lines{
      {"case", "timing", "host", "device", "settings", "change", "p", "between"}};
  for (const auto& [series, change] : all) {
    lines.push_back({series->key.case_id, series->key.timing, series->key.host, series->key.device,
                     series->key.settings, change_in_words(change->ratio()),
                     fmt::format("{:.3f}", change->at.p),
                     run_name(history.runs[series->last_before(*change).run]) + " and " +
                         run_name(history.runs[series->first_after(*change).run])});
  }
  const bool have_settings = std::ranges::any_of(
      all, [](const FoundChange& found) { return !found.series->key.settings.empty(); });
  if (!have_settings) {
    for (auto& line : lines) line.erase(line.begin() + 4);
  }
  return text_table(lines, have_settings ? "<<<<<>><" : "<<<<>><") + "\n";
}

struct Missing {
  std::vector<std::string> lines;
  std::size_t gaps = 0;      // not right, or without a time
  std::size_t left_out = 0;  // right, and without a reference
};

Missing missing(const History& history) {
  Missing all;
  for (const HistorySeries& series : history.series) {
    for (const HistoryEntry& entry : series.entries) {
      if (entry.value) continue;
      ++(entry.median_s ? all.left_out : all.gaps);
      if (all.lines.size() < max_listed) {
        all.lines.push_back(
            printable(fmt::format("{}: {} on {}: {}", history.runs[entry.run].run_id,
                                  series.key.case_id, series.key.device, entry.missing)) +
            "\n");
      }
    }
  }
  return all;
}

std::string missing_list(const Missing& missing) {
  std::string text;
  for (const std::string& line : missing.lines) text += "no point: " + line;
  const std::size_t more = missing.gaps + missing.left_out - missing.lines.size();
  if (more > 0) text += fmt::format("no point: {} more; --csv lists them all\n", more);
  return text.empty() ? text : text + "\n";
}

std::string counts(const History& history, const Missing& missing,
                   const statistics::EDivisiveOptions& options) {
  std::size_t points = 0;
  std::size_t changes = 0;
  std::size_t changed = 0;
  std::size_t tested = 0;
  std::size_t empty = 0;
  for (const HistorySeries& series : history.series) {
    points += series.points.size();
    changes += series.changes.size();
    if (!series.changes.empty()) ++changed;
    if (!series.too_short) ++tested;
    if (series.points.empty()) ++empty;
  }
  const auto references = std::ranges::count(history.is_reference, true);
  std::string text = counted(std::ssize(history.runs), "run");
  if (history.relative) text += fmt::format(", {} of them of the reference build", references);
  text += fmt::format("; {} series, {}, {}", with_commas(std::ssize(history.series)),
                      counted(static_cast<std::int64_t>(points), "point"),
                      counted(static_cast<std::int64_t>(missing.gaps), "gap"));
  if (history.relative) {
    text += fmt::format(", {} left out for want of a reference", missing.left_out);
  }
  text += "\n";
  if (changes == 0) {
    text += fmt::format("no change found in {} series", tested);
  } else {
    text += fmt::format("{} in {} of {} series",
                        counted(static_cast<std::int64_t>(changes), "change"), changed, tested);
  }
  // Rate of the test: each series without a change shows one with probability p.
  text +=
      fmt::format(" that {} long enough; about {:.2g} would show one by chance at p <= {:g}\n",
                  tested == 1 ? "is" : "are", options.p * static_cast<double>(tested), options.p);
  std::set<std::string> settings;
  for (const HistorySeries& series : history.series) settings.insert(series.key.settings);
  if (settings.size() > 1) {
    text += "runs with other settings are series of their own:";
    for (const std::string& one : settings) {
      text += fmt::format("{}{}", one == *settings.begin() ? " " : "; ",
                          one.empty() ? "none of them" : one);
    }
    text += "\n";
  }
  const std::size_t short_ones = history.series.size() - tested;
  if (short_ones > 0) {
    text += fmt::format(
        "{} series are too short to tell ({} without any point): fewer than {} points, two levels "
        "of --smallest-segment {}\n",
        short_ones, empty, 2 * options.smallest_segment, options.smallest_segment);
  }
  return text;
}

}  // namespace

std::string history_text(const History& history, const statistics::EDivisiveOptions& options) {
  const Missing without_point = missing(history);
  return changes_table(history) + history_causes(history) + missing_list(without_point) +
         counts(history, without_point, options);
}

}  // namespace assay
