#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/records/claims.h"
#include "kernels/core/names.h"
#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/page/stand_ins.h"
#include "reports/page/wrong_pattern.h"
#include "reports/text/explanation.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr std::size_t max_groups = 30;
constexpr std::size_t max_shown = 50;  // of one group

struct Problem {
  const Record* trial;
  std::size_t run;
  std::size_t row;

  auto rank() const {
    return std::tuple(severity(trial->status, false), excess(*trial),
                      trial->mismatches.value_or(0));
  }
};

/// Problems of one cause, the worst first.
struct Group {
  std::vector<Problem> problems;
  std::string pattern;
};

/// Run, device, op, check and pattern.
using Cause = std::tuple<std::size_t, std::string, std::string, std::string, std::string>;

std::vector<Group> groups_of(const std::vector<RunSource>& runs) {
  std::map<Cause, Group> by_cause;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].trials.size(); ++i) {
      const Record& trial = runs[r].trials[i];
      if (!trial.expected_failure.empty() || !turns_red(trial.status, runs[r].run)) continue;
      const std::string pattern = wrong_pattern(trial);
      const std::string check =
          trial.caught_by ? std::string(name(*trial.caught_by)) : std::string(name(trial.status));
      Group& group = by_cause[{r, trial.device, trial.suite + "/" + trial.op, check, pattern}];
      group.pattern = pattern;
      group.problems.push_back({&trial, r, runs[r].rows[i]});
    }
  }
  std::vector<Group> groups;
  for (auto& [cause, group] : by_cause) {
    std::ranges::stable_sort(group.problems, std::ranges::greater(), &Problem::rank);
    groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const Group& group) { return group.problems.front().rank(); });
  return groups;
}

/// Number of trials of the op on the device, right or not.
std::int64_t trials_like(const RunSource& run, const Record& trial) {
  return std::ranges::count_if(run.trials, [&](const Record& other) {
    return other.device == trial.device && other.suite == trial.suite && other.op == trial.op;
  });
}

std::string allowed_text(const Record& trial) {
  std::string text = excess_text(trial);
  if (trial.mismatches && trial.elements) {
    text += fmt::format("{}{} of {} elements", text.empty() ? "" : "; ",
                        with_commas(*trial.mismatches), with_commas(*trial.elements));
  }
  return text;
}

/// The other problems of a group, for a list that opens.
Json others_of(const Group& group) {
  Json others = Json::array();
  for (std::size_t i = 1; i < std::min(group.problems.size(), max_shown); ++i) {
    const Problem& one = group.problems[i];
    others.push_back({{"id", pieces(one.trial->case_id)},
                      {"at", row_link(one.run, one.row)},
                      {"reason", one.trial->reason},
                      {"timing", one.trial->timing}});
  }
  return others;
}

Json group_json(const Content& content, const Group& group) {
  const Problem& worst = group.problems.front();
  const Record& trial = *worst.trial;
  const RunSource& run = content.input.runs[worst.run];
  const bool several_runs = content.input.runs.size() > 1;
  const std::string_view claim = claim_of(trial.suite, trial.op);
  Json json{
      {"status", status_of(trial)},
      {"count", group.problems.size()},
      {"of", with_commas(trials_like(run, trial))},
      {"device", lane_text(trial)},
      {"run", several_runs ? fmt::format(" of run {}", worst.run + 1) : ""},
      {"op", trial.op},
      {"pattern", group.pattern.empty() ? "no reason given" : group.pattern},
      {"check", trial.caught_by ? std::string(name(*trial.caught_by)) : ""},
      {"claim", claim},
      {"id", pieces(trial.case_id)},
      {"at", row_link(worst.run, worst.row)},
      {"on_timing", trial.timing},
      {"reason", trial.worst_index || trial.reason == group.pattern
                     ? ""
                     : trial.reason},  // or else the worst element tells more
      {"worst", false},
      {"allowed", allowed_text(trial)},
      {"replay", trial.replay},
      {"others", others_of(group)},
      {"others_count", group.problems.size() == 1 ? Json(false) : Json(group.problems.size() - 1)},
      {"left_out",
       group.problems.size() > max_shown
           ? Json(with_commas(static_cast<std::int64_t>(group.problems.size() - max_shown)))
           : Json(false)}};
  if (trial.worst_index) {
    json["worst"] = {{"index", fmt::format("{}", *trial.worst_index)},
                     {"expected", trial.worst_expected},
                     {"actual", trial.worst_actual}};
  }
  return json;
}

/// Says, if no result is wrong, whether one is missing.
Json nothing_wrong(const std::vector<RunSource>& runs) {
  Json lines = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].verdict.passed) continue;
    lines.push_back(fmt::format("No result of {} is wrong, but it did not pass: {}.",
                                runs.size() == 1 ? "the run" : fmt::format("run {}", i + 1),
                                runs[i].verdict.why));
  }
  if (lines.empty()) lines.push_back("No result is wrong, and none is missing.");
  return lines;
}

}  // namespace

Json problems_part(const Content& content) {
  if (content.input.runs.empty()) return nullptr;
  const std::vector<Group> groups = groups_of(content.input.runs);
  std::size_t all = 0;
  for (const Group& group : groups) all += group.problems.size();
  Json json{{"title", "Nothing is wrong"},
            {"lines", false},
            {"groups", Json::array()},
            {"more_groups", false}};
  if (groups.empty()) {
    json["lines"] = nothing_wrong(content.input.runs);
    return json;
  }
  json["title"] =
      fmt::format("What is wrong: {}, {}", counted(static_cast<std::int64_t>(all), "result"),
                  counted(std::ssize(groups), "cause"));
  for (std::size_t i = 0; i < std::min(groups.size(), max_groups); ++i) {
    json["groups"].push_back(group_json(content, groups[i]));
  }
  if (groups.size() > max_groups) json["more_groups"] = groups.size() - max_groups;
  return json;
}

}  // namespace assay::page
