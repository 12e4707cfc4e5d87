#include "reports/page/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "reports/page/cells.h"

namespace assay::page {
namespace {

constexpr std::size_t max_changed_rows = 40;

using TrialKey = std::tuple<std::string, std::string, std::string>;

TrialKey key_of(const Record& trial) { return {trial.case_id, trial.device, trial.timing}; }

bool is_right(const Record& trial) {
  return trial.status == Status::pass && trial.expected_failure.empty();
}

/// A trial of either run; null where that run has none.
struct Changed {
  const Record* base = nullptr;
  const Record* cand = nullptr;
  std::string link;

  const Record& either() const { return cand != nullptr ? *cand : *base; }
  /// Order of changes: worse trials first, then missing, new and better ones.
  int order() const {
    if (base == nullptr) return 2;
    if (cand == nullptr) return 1;
    return is_right(*cand) ? 3 : 0;
  }
};

struct Changes {
  std::vector<Changed> changed;
  std::size_t in_common = 0;
};

/// Finds trials of the same lane with another status, and those that only one run has.
Changes changes_between(const Content& content, std::size_t base, std::size_t cand) {
  const RunSource& before = content.input.runs[base];
  const RunSource& after = content.input.runs[cand];
  std::map<TrialKey, std::size_t> places;
  for (std::size_t i = 0; i < before.trials.size(); ++i)
    places.emplace(key_of(before.trials[i]), i);
  Changes changes;
  for (std::size_t i = 0; i < after.trials.size(); ++i) {
    const Record& trial = after.trials[i];
    const auto found = places.find(key_of(trial));
    if (found == places.end()) {
      changes.changed.push_back({nullptr, &trial, row_link(cand, after.rows[i])});
      continue;
    }
    ++changes.in_common;
    const Record& was = before.trials[found->second];
    places.erase(found);
    if (was.status == trial.status &&
        was.expected_failure.empty() == trial.expected_failure.empty())
      continue;
    changes.changed.push_back({&was, &trial, row_link(cand, after.rows[i])});
  }
  for (std::size_t i = 0; i < before.trials.size(); ++i) {
    if (!places.contains(key_of(before.trials[i]))) continue;
    changes.changed.push_back({&before.trials[i], nullptr, row_link(base, before.rows[i])});
  }
  std::ranges::stable_sort(changes.changed, {}, &Changed::order);
  return changes;
}

Json side(const Record* trial, std::string_view absent) {
  return trial == nullptr ? text_cell(absent) : status_cell(*trial);
}

Json table_of(const Changes& changes, std::size_t base, std::size_t cand) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(changes.changed.size(), max_changed_rows); ++i) {
    const Changed& one = changes.changed[i];
    const bool shows_base = one.cand == nullptr || (is_right(*one.cand) && one.base != nullptr);
    Json cells = Json::array({case_cell(one.either().case_id, one.link)});
    cells.push_back(text_cell(lane_text(one.either())));
    cells.push_back(text_cell(one.either().timing));
    cells.push_back(side(one.base, "absent: new"));
    cells.push_back(side(one.cand, "missing"));
    cells.push_back(text_cell(shows_base ? one.base->reason : one.cand->reason));
    rows.push_back(std::move(cells));
  }
  Json made = table(fmt::format("Run {} against run {}", cand + 1, base + 1),
                    {"Case", "Device", "Timing", fmt::format("Run {}", base + 1),
                     fmt::format("Run {}", cand + 1), "Why"},
                    std::move(rows));
  if (changes.changed.size() > max_changed_rows) {
    made["hint"] = fmt::format("{} more are not listed; the files have them.",
                               changes.changed.size() - max_changed_rows);
  }
  return made;
}

}  // namespace

Json changes_of(const Content& content, std::size_t base, std::size_t cand) {
  const Changes changes = changes_between(content, base, cand);
  Json block{
      {"name", fmt::format("Results of run {} that differ from run {}: {}", cand + 1, base + 1,
                           changes.changed.size())},
      {"says", changes.in_common > 0
                   ? ""
                   : "The two runs have no trial in common: a trial is one case on one device, "
                     "timed one way or only checked."},
      {"tables", false}};
  if (!changes.changed.empty()) block["tables"] = Json::array({table_of(changes, base, cand)});
  return block;
}

}  // namespace assay::page
