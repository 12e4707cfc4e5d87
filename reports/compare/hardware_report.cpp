#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "reports/compare/comparison_report.h"
#include "reports/text/si.h"

namespace assay {
namespace {

/// Ratios of one kind of trials.
struct Spread {
  double sum_of_logs = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  std::size_t count = 0;

  void add(double ratio) {
    sum_of_logs += std::log(ratio);
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    ++count;
  }
  double geometric_mean() const { return std::exp(sum_of_logs / static_cast<double>(count)); }
};

using Kind = std::tuple<std::string, std::string, std::string>;  // suite or op, dtype, device

Section means(std::string title, const std::map<Kind, Spread>& spreads) {
  Section section{.title = std::move(title)};
  section.header = {"of", "dtype", "on", "trials", "geometric mean", "least", "most"};
  section.alignment = "<<<>>>>";
  for (const auto& [kind, spread] : spreads) {
    section.rows.push_back({std::get<0>(kind), std::get<1>(kind), std::get<2>(kind),
                            fmt::format("{}", spread.count), ratio_text(spread.geometric_mean()),
                            ratio_text(spread.least), ratio_text(spread.most)});
  }
  return section;
}

std::vector<std::string> trial_row(const ComparedTrial& trial) {
  return {std::string(trial.either().case_id), trial_place(trial),
          ratio_text(trial.ratio.value),       si(trial.base->time->median_s, "s"),
          si(trial.cand->time->median_s, "s"), disturbance(trial)};
}

}  // namespace

std::vector<Section> hardware_sections(const ComparisonFacts& facts) {
  std::map<Kind, Spread> by_suite;
  std::map<Kind, Spread> by_op;
  std::vector<const ComparedTrial*> timed;
  for (const ComparedTrial& trial : facts.comparison.trials) {
    if (!trial.has_ratio()) continue;
    timed.push_back(&trial);
    const TrialGroup& group = *trial.base->group;
    const std::string place = trial_place(trial);
    by_suite[{group.suite, "", place}].add(trial.ratio.value);
    by_op[{group.suite + "/" + group.op, group.dtype, place}].add(trial.ratio.value);
  }
  std::ranges::stable_sort(timed, [](const ComparedTrial* a, const ComparedTrial* b) {
    return a->ratio.value > b->ratio.value;
  });
  std::vector<Section> sections{means("Time of cand / base, by suite", by_suite),
                                means("Time of cand / base, by op", by_op)};
  sections.front().lines.emplace_back(
      "This compares machines and judges neither: below 1, cand takes less time.");
  Section& trials = sections.emplace_back(Section{.title = "Time of cand / base, trial by trial"});
  trials.header = {"case", "on", "ratio", "base", "cand", "disturbed"};
  trials.alignment = "<<>>><";
  add_rows(trials, timed, facts, trial_row);
  return sections;
}

}  // namespace assay
