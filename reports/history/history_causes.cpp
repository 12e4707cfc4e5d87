#include "reports/history/history_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "harness/records/printable.h"
#include "harness/records/replay.h"
#include "kernels/core/status.h"
#include "reports/compare/environment_differences.h"
#include "reports/text/si.h"
#include "reports/text/text_table.h"

namespace assay {
namespace {

/// Pairs of runs that are shown: the newest tell most.
constexpr std::size_t max_pairs = 5;

using Pair = std::pair<std::size_t, std::size_t>;

/// Pairs of runs between which changes lie, the newest first, with the number of changes.
std::vector<std::pair<Pair, std::int64_t>> pairs_of(const History& history) {
  std::vector<std::pair<Pair, std::int64_t>> pairs;
  for (const auto& [series, change] : newest_changes(history)) {
    const Pair pair{series->last_before(*change).run, series->first_after(*change).run};
    const auto found = std::ranges::find(pairs, pair, &std::pair<Pair, std::int64_t>::first);
    if (found == pairs.end()) {
      pairs.emplace_back(pair, 1);
    } else {
      ++found->second;
    }
  }
  return pairs;
}

EndedRun with_devices(const StoredRun& run, std::string& problems) {
  EndedRun result{.run = run, .devices = {}};
  try {
    result.devices = read_stored_devices(run.directory);
  } catch (const UsageError& error) {
    problems += fmt::format("    {}\n", printable(error.what()));
  }
  return result;
}

std::string load_of(const Quality& quality) {
  return fmt::format("{} of {}", with_commas(quality.contended), with_commas(quality.timed));
}

std::string differences_text(const History& history, const Pair& pair) {
  std::string problems;
  const EndedRun base = with_devices(history.runs[pair.first], problems);
  const EndedRun cand = with_devices(history.runs[pair.second], problems);
  std::vector<std::vector<std::string>> lines;
  for (const Difference& one :
       environment_differences(base, cand, pair_devices(base, cand, false))) {
    lines.push_back(
        {"  ", one.what, one.base.empty() ? "-" : one.base, one.cand.empty() ? "-" : one.cand});
  }
  const Quality& before = history.quality[pair.first];
  const Quality& after = history.quality[pair.second];
  if (before.contended != after.contended) {
    lines.push_back({"  ", "contended figures", load_of(before), load_of(after)});
  }
  return lines.empty() ? problems + "    nothing that is recorded\n"
                       : problems + text_table(lines, "<<<<");
}

}  // namespace

std::string history_causes(const History& history) {
  const auto pairs = pairs_of(history);
  std::string text;
  for (std::size_t i = 0; i < std::min(pairs.size(), max_pairs); ++i) {
    const StoredRun& before = history.runs[pairs[i].first.first];
    const StoredRun& after = history.runs[pairs[i].first.second];
    text += fmt::format("{} between {} and {}; what else changed there:\n",
                        counted(pairs[i].second, "change"), printable(before.directory.string()),
                        printable(after.directory.string()));
    text += differences_text(history, pairs[i].first);
    text += fmt::format("    assay compare {} {}\n", shell_word(before.directory.string()),
                        shell_word(after.directory.string()));
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace assay
