#include "reports/page/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "kernels/core/names.h"
#include "reports/page/cells.h"
#include "reports/page/stand_ins.h"
#include "reports/text/si.h"

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
  std::map<TrialKey, std::size_t> indices;
  for (std::size_t i = 0; i < before.trials.size(); ++i)
    indices.emplace(key_of(before.trials[i]), i);
  Changes changes;
  for (std::size_t i = 0; i < after.trials.size(); ++i) {
    const Record& trial = after.trials[i];
    const auto found = indices.find(key_of(trial));
    if (found == indices.end()) {
      changes.changed.push_back({nullptr, &trial, row_link(cand, after.rows[i])});
      continue;
    }
    ++changes.in_common;
    const Record& was = before.trials[found->second];
    indices.erase(found);
    if (was.status == trial.status &&
        was.expected_failure.empty() == trial.expected_failure.empty())
      continue;
    changes.changed.push_back({&was, &trial, row_link(cand, after.rows[i])});
  }
  for (std::size_t i = 0; i < before.trials.size(); ++i) {
    if (!indices.contains(key_of(before.trials[i]))) continue;
    changes.changed.push_back({&before.trials[i], nullptr, row_link(base, before.rows[i])});
  }
  std::ranges::stable_sort(changes.changed, {}, &Changed::order);
  return changes;
}

Json side(const Record* trial, std::string_view absent) {
  return trial == nullptr ? text_cell(absent) : status_cell(*trial);
}

Json table_of(const Content& content, const Changes& changes, std::size_t base, std::size_t cand) {
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
  const std::string& before = content.columns.run(base);
  const std::string& after = content.columns.run(cand);
  Json made = table(fmt::format("{} against {}", after, before),
                    {"Case", "Device", "Timing", before, after, "Why"}, std::move(rows));
  if (changes.changed.size() > max_changed_rows) {
    made["hint"] = fmt::format("{} more are not listed; the files have them.",
                               changes.changed.size() - max_changed_rows);
  }
  return made;
}

}  // namespace

Json changes_against(const Content& content, std::size_t base) {
  Json blocks = Json::array();
  std::vector<std::string> same;
  for (std::size_t r = 0; r < content.input.runs.size(); ++r) {
    if (r == base) continue;
    const Changes changes = changes_between(content, base, r);
    if (changes.changed.empty() && changes.in_common > 0) {
      same.push_back(content.columns.run(r));
      continue;
    }
    blocks.push_back(
        {{"name", fmt::format("Results of {} that differ from {}: {}", content.columns.run(r),
                              content.columns.run(base), with_commas(std::ssize(changes.changed)))},
         {"remark",
          changes.in_common > 0
              ? ""
              : "The two runs have no trial in common: a trial is one case on one device, "
                "timed one way or only checked."},
         {"tables", false}});
    if (!changes.changed.empty()) {
      blocks.back()["tables"] = Json::array({table_of(content, changes, base, r)});
    }
  }
  if (!same.empty()) {
    blocks.push_back({{"name", fmt::format("No result of {} differs from {}", join(same, ", "),
                                           content.columns.run(base))},
                      {"remark", ""},
                      {"tables", false}});
  }
  return blocks;
}

}  // namespace assay::page
