#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/names.h"
#include "reports/compare/environment_differences.h"
#include "reports/page/cells.h"
#include "reports/page/changes.h"
#include "reports/page/content.h"
#include "reports/page/differences.h"
#include "reports/page/forest.h"
#include "reports/page/stand_ins.h"
#include "reports/page/times.h"
#include "reports/text/few_samples.h"
#include "reports/text/quality.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr std::size_t max_drawn_times = 40;

Json table_of_means(const Content& content, const Means& by_suite) {
  std::vector<Heading> headings{"Suite"};
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (c != content.base) headings.push_back(Heading::of_numbers(content.columns[c].label));
  }
  Json rows = Json::array();
  for (const auto& [suite, means] : by_suite) {
    Json cells = Json::array({head_cell(suite)});
    for (std::size_t c = 0; c < means.size(); ++c) {
      if (c == content.base) continue;
      const Mean& mean = means[c];
      Json cell = number_cell(mean.count == 0 ? "" : speed_words(mean.value()),
                              mean.count == 0 ? std::nullopt : std::optional(mean.value()));
      if (mean.count > 0) {
        cell["interval"] = fmt::format("{:.3g} to {:.3g}; {}", mean.least, mean.most,
                                       counted(mean.count, "trial"));
      }
      cells.push_back(std::move(cell));
    }
    rows.push_back(std::move(cells));
  }
  return table(fmt::format("Time against {}: geometric mean, and the least and the most ratio",
                           content.columns[content.base].label),
               headings, std::move(rows));
}

/// Returns false between products: their ratios are no suspects.
bool may_suspect(const Column& a, const Column& b) {
  if (a.cells == nullptr || b.cells == nullptr) return a.is_together() && b.is_together();
  return a.cells->at("backend") == b.cells->at("backend") &&
         hardware_differences({{a.cells, b.cells}}).empty();
}

Json block_of(const Content& content, const Times& times, std::size_t column) {
  const Column& cand = content.columns[column];
  const Column& base = content.columns[content.base];
  const bool suspects = may_suspect(base, cand);
  Quality quality;
  for (const auto& [key, timed] : times.of(column)) quality.add(*timed.trial);
  const bool is_busy = quality.is_mostly_contended();
  std::vector<ForestRow> rows;
  for (const auto& [key, timed] : times.of(column)) {
    const auto ratio = times.ratio(column, *timed.trial, content.base);
    if (!ratio) continue;
    const Record& trial = *timed.trial;
    std::vector<std::string> details{cand.is_together() ? lane_text(trial) : "",
                                     trial.timing == batch_timing ? "" : trial.timing,
                                     remarks(trial, is_busy),
                                     ratio->low > 0 ? "" : std::string(too_few_samples)};
    std::erase(details, "");
    rows.push_back({.name = trial.case_id,
                    .link = row_link(cand.run, timed.row),
                    .detail = join(details, ", "),
                    .verdict = suspects ? std::string(name(speed_of(*ratio, content.input.margin)))
                                        : std::string(),
                    .ratio = *ratio,
                    .margin = content.input.margin});
  }
  Json drawn = forest(fmt::format("Time of {} over that of {}", cand.label, base.label),
                      suspects ? "Suspect" : "", std::move(rows), max_drawn_times);
  if (drawn.is_null()) return nullptr;
  return {{"name", cand.label},
          {"remark", quality.busy_sentence()},
          {"tables", Json::array({std::move(drawn)})}};
}

}  // namespace

Json against_part(const Content& content) {
  if (content.columns.size() < 2) return nullptr;
  const Times times(content);
  const Means means = means_of(content, times);
  const std::vector<RunSource>& runs = content.input.runs;
  if (means.empty() && runs.size() < 2) return nullptr;
  Json changes = changes_against(content, content.columns[content.base].run);
  Json columns = Json::array();
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (c == content.base) continue;
    Json block = block_of(content, times, c);
    if (!block.is_null()) columns.push_back(std::move(block));
  }
  return {{"title", "Side by side"},
          {"changes", std::move(changes)},
          {"means", means.empty() ? Json(nullptr) : Json::array({table_of_means(content, means)})},
          {"margin", fmt::format("{:.3g}", 100 * content.input.margin)},
          {"has_columns", !columns.empty()},
          {"columns", std::move(columns)}};
}

}  // namespace assay::page
