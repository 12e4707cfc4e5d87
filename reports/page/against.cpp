#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/page/times.h"

namespace assay::page {
namespace {

constexpr std::size_t most_rows = 40;

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

/// By suite, then by column.
std::map<std::string, std::vector<Mean>> means_of(const Content& content, const Times& times) {
  std::map<std::string, std::vector<Mean>> means;
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

void add_means(Html& html, const Content& content, const Times& times) {
  std::vector<std::string> header{"Suite"};
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (c != content.base) header.push_back(content.columns[c].label);
  }
  const Table table(html,
                    fmt::format("Time over that of {}: geometric mean (least to most; cases)",
                                content.columns[content.base].label),
                    header);
  for (const auto& [suite, means] : means_of(content, times)) {
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
                 fmt::format("{:.3g} ({:.3g} to {:.3g}; {})", mean.value(), mean.least, mean.most,
                             mean.count),
                 mean.value());
    }
    html.end("tr");
  }
}

std::string words(Speed speed) {
  return speed == Speed::none ? "no interval" : std::string(name(speed));
}

void add_column(Html& html, const Content& content, const Times& times, std::size_t column) {
  std::vector<ForestRow> rows;
  for (const auto& [key, timed] : times.of(column)) {
    const auto ratio = times.ratio(column, *timed.trial, content.base);
    if (!ratio) continue;
    const Record& trial = *timed.trial;
    rows.push_back({.name = trial.case_id,
                    .link = row_link(content.columns[column].run, timed.row),
                    .detail = trial.timing,
                    .verdict = words(speed_of(*ratio, content.input.margin)),
                    .ratio = *ratio,
                    .margin = content.input.margin});
  }
  if (rows.empty()) return;
  html.element("h3", content.columns[column].label);
  add_forest(html,
             fmt::format("Time on {} over time on {}", content.columns[column].label,
                         content.columns[content.base].label),
             std::move(rows), most_rows);
}

/// Trials of the same lane that were right in the one run and not in the other.
void add_changes(Html& html, const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  const std::size_t base = content.columns[content.base].run;
  using Key = std::tuple<std::string, std::string, std::string>;
  const auto key = [](const Record& trial) {
    return Key{trial.case_id, trial.device, trial.timing};
  };
  std::map<Key, const Record*> before;
  for (const Record& trial : runs[base].trials) before.emplace(key(trial), &trial);
  const auto is_right = [](const Record& trial) {
    return trial.status == Status::pass && trial.expected_failure.empty();
  };
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (r == base) continue;
    struct Changed {
      const Record* base;
      const Record* cand;
      std::size_t row;
    };
    std::vector<Changed> changed;
    for (std::size_t i = 0; i < runs[r].trials.size(); ++i) {
      const Record& trial = runs[r].trials[i];
      const auto found = before.find(key(trial));
      if (found == before.end() || is_right(*found->second) == is_right(trial)) continue;
      changed.push_back({found->second, &trial, runs[r].rows[i]});
    }
    std::ranges::stable_sort(changed, {}, [&](const Changed& one) { return is_right(*one.cand); });
    html.element("h3", fmt::format("Results of run {} that differ from run {}: {}", r + 1, base + 1,
                                   changed.size()));
    if (changed.empty()) continue;
    const Table table(html, fmt::format("Run {} against run {}", r + 1, base + 1),
                      {"Case", "Device", "Timing", fmt::format("Run {}", base + 1),
                       fmt::format("Run {}", r + 1), "Why"});
    for (std::size_t i = 0; i < std::min(changed.size(), most_rows); ++i) {
      const Changed& one = changed[i];
      html.begin("tr");
      add_case(html, one.cand->case_id, row_link(r, one.row));
      html.element("td", one.cand->device);
      html.element("td", one.cand->timing);
      for (const Record* side : {one.base, one.cand}) {
        html.begin("td");
        add_status(html, *side);
        html.end("td");
      }
      html.element("td", is_right(*one.cand) ? one.base->reason : one.cand->reason);
      html.end("tr");
    }
  }
}

}  // namespace

void add_against(Html& html, const Content& content) {
  if (content.columns.size() < 2) return;
  const Times times(content);
  const bool any_times = !means_of(content, times).empty();
  if (!any_times && content.input.runs.size() < 2) return;
  const Part part(html, "against", "Side by side");
  if (content.input.runs.size() > 1) add_changes(html, content);
  if (!any_times) return;
  add_means(html, content, times);
  html.element("p", fmt::format("Below, the cases whose ratio is farthest from 1 for their own "
                                "noise come first; dashed lines are at {:.3g}% slower and faster. "
                                "The intervals are those of two processes, no verdicts: what "
                                "decides about a regression is assay ab.",
                                100 * content.input.margin));
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (c != content.base) add_column(html, content, times, c);
  }
}

}  // namespace assay::page
