#include <fmt/format.h>

#include <algorithm>

#include "reports/compare/paired_summary.h"
#include "reports/compare/visible_change.h"
#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/page/findings.h"
#include "reports/page/forest.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr std::size_t max_paired_rows = 60;

bool has_ratio(const PairedCase& one) { return one.ratio.value_or(0) > 0; }

Json facts_of(const PairedSource& source) {
  Json facts = Json::array();
  for (const auto& [name, value] : {std::pair<std::string_view, std::string>("Base", source.base),
                                    {"Candidate", source.cand},
                                    {"Host", source.host},
                                    {"Started", source.started_at},
                                    {"Margin", source.margin_reason}}) {
    facts.push_back({{"name", name}, {"value", value}});
  }
  return facts;
}

Json table_of_untimed(const PairedSource& source, std::size_t file) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < source.cases.size(); ++i) {
    const PairedCase& one = source.cases[i];
    if (has_ratio(one)) continue;
    Json cells = Json::array({case_cell(one.case_id, row_link(file, i))});
    for (const std::string_view text : {std::string_view(one.device), std::string_view(one.timing),
                                        name(one.verdict), std::string_view(one.reason)}) {
      cells.push_back(text_cell(text));
    }
    rows.push_back(std::move(cells));
  }
  if (rows.empty()) return nullptr;
  return table("Cases without times", {"Case", "Device", "Timing", "Verdict", "Why"},
               std::move(rows));
}

Json table_of_times(const PairedSource& source, std::size_t file) {
  const bool several_devices = std::ranges::any_of(source.cases, [&](const PairedCase& one) {
    return one.device != source.cases.front().device;
  });
  std::vector<ForestRow> rows;
  for (std::size_t i = 0; i < source.cases.size(); ++i) {
    const PairedCase& one = source.cases[i];
    if (!has_ratio(one)) continue;
    rows.push_back({.name = one.case_id,
                    .link = row_link(file, i),
                    .detail = (several_devices ? one.device + " " : "") +
                              (one.timing == batch_timing ? "" : one.timing + ", ") +
                              counted(one.rounds.value_or(0), "round"),
                    .verdict = std::string(name(one.verdict)),
                    .ratio = {*one.ratio, one.ratio_low.value_or(0), one.ratio_high.value_or(0)},
                    .margin = one.margin.value_or(0)});
  }
  return forest(
      "Time of the candidate over that of the base, over paired rounds, with 95% intervals; "
      "dashed lines are at the margin of each case",
      "Verdict", std::move(rows), max_paired_rows);
}

std::string why(const PairedSource& source) {
  if (source.cases.empty()) return "no case";
  const PairedTally counts = tally(source.cases);
  std::string text = tally_text(counts);
  if (!is_undecided(counts) || source.interrupted) return text;
  return text + ": " + visible_changes_text(source.cases);
}

Json source_json(const PairedSource& source, std::size_t file, bool several) {
  const Word word = word_of(source);
  Json tables = Json::array();
  for (Json table : {table_of_untimed(source, file), table_of_times(source, file)}) {
    if (!table.is_null()) tables.push_back(std::move(table));
  }
  return {{"name", source.name},
          {"several", several},
          {"word", word.sign + " " + word.word},
          {"kind", word.kind},
          {"why", why(source)},
          {"facts", facts_of(source)},
          {"remarks", source.notes},
          {"tables", std::move(tables)}};
}

}  // namespace

Json paired_part(const Content& content) {
  if (content.input.paired.empty()) return nullptr;
  const bool several = content.input.paired.size() > 1;
  Json sources = Json::array();
  for (const PairedSource& source : content.input.paired) {
    sources.push_back(source_json(source, content.file_of(source.csv), several));
  }
  return {{"title", "Two builds, paired"}, {"sources", std::move(sources)}};
}

}  // namespace assay::page
