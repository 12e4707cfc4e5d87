#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "reports/compare/environment_differences.h"
#include "reports/few_samples.h"
#include "reports/page/times.h"
#include "reports/si.h"

namespace assay::page {
namespace {

constexpr std::size_t max_rows = 40;

/// Geometric mean and extent of ratios.
struct Mean {
  double logs = 0;
  double least = 0;
  double most = 0;
  std::int64_t count = 0;

  void add(double ratio) {
    least = count == 0 ? ratio : std::min(least, ratio);
    most = count == 0 ? ratio : std::max(most, ratio);
    logs += std::log(ratio);
    ++count;
  }
  double value() const { return std::exp(logs / static_cast<double>(count)); }
};

/// Means by suite, then by column.
using Means = std::map<std::string, std::vector<Mean>>;

Means means_of(const Content& content, const Times& times) {
  Means means;
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    for (const auto& [key, timed] : times.of(c)) {
      const auto ratio = times.ratio(c, *timed.trial, content.base);
      if (!ratio) continue;
      for (const std::string& suite : {timed.trial->suite, std::string("all suites")}) {
        auto& row = means.try_emplace(suite, content.columns.size()).first->second;
        row[c].add(ratio->value);
      }
    }
  }
  return means;
}

void add_means(Html& html, const Content& content, const Means& by_suite) {
  std::vector<Heading> header{"Suite"};
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (c != content.base) header.push_back(Heading::of_numbers(content.columns[c].label));
  }
  const Table table(html,
                    fmt::format("Time over that of {}: geometric mean (least to most; trials)",
                                content.columns[content.base].label),
                    header);
  for (const auto& [suite, means] : by_suite) {
    html.begin("tr");
    html.element("th", suite, {{"scope", "row"}});
    for (std::size_t c = 0; c < means.size(); ++c) {
      if (c == content.base) continue;
      const Mean& mean = means[c];
      if (mean.count == 0) {
        add_number(html, "", std::nullopt);
        continue;
      }
      add_number(html,
                 fmt::format("{} ({} to {}; {})", ratio_text(mean.value()), ratio_text(mean.least),
                             ratio_text(mean.most), mean.count),
                 mean.value());
    }
    html.end("tr");
  }
}

/// Returns false between products: their ratios are no suspects.
bool may_suspect(const Column& a, const Column& b) {
  if (a.cells == nullptr || b.cells == nullptr) return a.is_together() && b.is_together();
  return a.cells->at("backend") == b.cells->at("backend") &&
         hardware_differences({{a.cells, b.cells}}).empty();
}

std::string disturbances(const Record& trial) {
  std::string text;
  if (trial.contended.value_or(false)) text += ", contended";
  if (trial.throttled.value_or(false)) text += ", throttled";
  return text;
}

void add_column(Html& html, const Content& content, const Times& times, std::size_t column) {
  const Column& cand = content.columns[column];
  const Column& base = content.columns[content.base];
  const bool suspects = may_suspect(base, cand);
  std::vector<ForestRow> rows;
  for (const auto& [key, timed] : times.of(column)) {
    const auto ratio = times.ratio(column, *timed.trial, content.base);
    if (!ratio) continue;
    const Record& trial = *timed.trial;
    rows.push_back({.name = trial.case_id,
                    .link = row_link(cand.run, timed.row),
                    .detail = (cand.is_together() ? lane_text(trial) + " " : "") + trial.timing +
                              disturbances(trial) +
                              (ratio->low > 0 ? "" : fmt::format(", {}", too_few_samples)),
                    .verdict = suspects ? std::string(name(speed_of(*ratio, content.input.margin)))
                                        : std::string(),
                    .ratio = *ratio,
                    .margin = content.input.margin});
  }
  if (rows.empty()) return;
  html.element("h3", cand.label);
  add_forest(html, fmt::format("Time on {} over time on {}", cand.label, base.label),
             suspects ? "Suspect" : "", std::move(rows), max_rows);
}

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

void add_side(Html& html, const Record* trial, std::string_view absent) {
  html.begin("td");
  if (trial != nullptr) {
    add_status(html, *trial);
  } else {
    html.text(absent);
  }
  html.end("td");
}

void add_changes(Html& html, const Content& content, std::size_t base, std::size_t cand) {
  const Changes changes = changes_between(content, base, cand);
  html.element("h3", fmt::format("Results of run {} that differ from run {}: {}", cand + 1,
                                 base + 1, changes.changed.size()));
  if (changes.in_common == 0) {
    html.element("p",
                 "The two runs have no trial in common: a trial is one case on one device, "
                 "timed one way or only checked.");
  }
  if (changes.changed.empty()) return;
  {
    const Table table(html, fmt::format("Run {} against run {}", cand + 1, base + 1),
                      {"Case", "Device", "Timing", fmt::format("Run {}", base + 1),
                       fmt::format("Run {}", cand + 1), "Why"});
    for (std::size_t i = 0; i < std::min(changes.changed.size(), max_rows); ++i) {
      const Changed& one = changes.changed[i];
      html.begin("tr");
      add_case(html, one.either().case_id, one.link);
      html.element("td", lane_text(one.either()));
      html.element("td", one.either().timing);
      add_side(html, one.base, "absent: new");
      add_side(html, one.cand, "missing");
      const bool shows_base = one.cand == nullptr || (is_right(*one.cand) && one.base != nullptr);
      html.element("td", shows_base ? one.base->reason : one.cand->reason);
      html.end("tr");
    }
  }
  if (changes.changed.size() > max_rows) {
    html.element("p", fmt::format("{} more are not listed; the files have them.",
                                  changes.changed.size() - max_rows));
  }
}

}  // namespace

void add_against(Html& html, const Content& content) {
  if (content.columns.size() < 2) return;
  const Times times(content);
  const auto means = means_of(content, times);
  const std::vector<RunSource>& runs = content.input.runs;
  if (means.empty() && runs.size() < 2) return;
  const Part part(html, "against", "Side by side");
  const std::size_t base_run = content.columns[content.base].run;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (r != base_run) add_changes(html, content, base_run, r);
  }
  if (means.empty()) return;
  add_means(html, content, means);
  html.element("p", fmt::format("The cases whose ratio is farthest from 1 relative to their noise "
                                "come first. Dashed lines are at {:.3g}% slower and faster. An "
                                "interval combines the intervals of the two processes. Suspects "
                                "are named between devices of one product. They are no verdicts: "
                                "assay ab decides about a regression.",
                                100 * content.input.margin));
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (c != content.base) add_column(html, content, times, c);
  }
}

}  // namespace assay::page
