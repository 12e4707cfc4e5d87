#include <fmt/format.h>

#include <algorithm>

#include "reports/compare/paired_summary.h"
#include "reports/page/sections.h"

namespace assay::page {
namespace {

constexpr std::size_t max_rows = 60;

bool has_ratio(const PairedCase& one) { return one.ratio.value_or(0) > 0; }

struct Verdict {
  std::string_view word;
  std::string_view sign;
  std::string_view style;
};
constexpr Verdict failed(std::string_view word) { return {word, "✗", "verdict failed"}; }

/// Judges the rows as `assay ab` does.
Verdict by_rows(const PairedSource& source) {
  PairedTally counts = tally(source.cases);
  if (counts[PairedVerdict::wrong] + counts[PairedVerdict::missing] > 0) return failed("FAILED");
  if (counts[PairedVerdict::broken] > 0) return failed("BROKEN");
  if (counts[PairedVerdict::regressed] > 0) return failed("REGRESSED");
  if (counts[PairedVerdict::improved] + counts[PairedVerdict::equivalent] > 0) {
    return {"NO REGRESSION", "✓", "verdict passed"};
  }
  if (counts[PairedVerdict::inconclusive] > 0) return {"INCONCLUSIVE", "–", "verdict open"};
  return failed("NOT COMPARED");
}

Verdict verdict_of(const PairedSource& source) {
  if (!source.ended || source.interrupted) return failed("INCOMPLETE");
  const Verdict verdict = by_rows(source);
  const bool is_bad = verdict.style == failed("").style;
  return is_bad == (source.exit_code != 0) ? verdict : failed("ROWS AND EXIT CODE DISAGREE");
}

void add_head(Html& html, const PairedSource& source) {
  const Verdict verdict = verdict_of(source);
  html.begin("p", {{"class", verdict.style}});
  html.element("b", fmt::format("{} {}", verdict.sign, verdict.word));
  html.text(" ");
  html.element("span", source.cases.empty() ? "no case" : tally_text(tally(source.cases)));
  html.end("p");
  html.begin("dl");
  for (const auto& [name, value] : {std::pair<std::string_view, std::string>("Base", source.base),
                                    {"Candidate", source.cand},
                                    {"Host", source.host},
                                    {"Started", source.started_at},
                                    {"Margin", source.margin_reason}}) {
    html.element("dt", name);
    html.element("dd", value);
  }
  html.end("dl");
  if (source.notes.empty()) return;
  html.begin("ul", {{"class", "notes"}});
  for (const std::string& note : source.notes) html.element("li", note);
  html.end("ul");
}

void add_untimed(Html& html, const PairedSource& source, std::size_t file) {
  if (std::ranges::all_of(source.cases,
                          [](const PairedCase& one) { return one.ratio.has_value(); }))
    return;
  const Table table(html, "Cases without times", {"Case", "Device", "Timing", "Verdict", "Why"});
  for (std::size_t i = 0; i < source.cases.size(); ++i) {
    const PairedCase& one = source.cases[i];
    if (has_ratio(one)) continue;
    html.begin("tr");
    add_case(html, one.case_id, row_link(file, i));
    html.element("td", one.device);
    html.element("td", one.timing);
    html.element("td", name(one.verdict));
    html.element("td", one.reason);
    html.end("tr");
  }
}

void add_one(Html& html, const PairedSource& source, std::size_t file) {
  html.element("h3", source.name);
  add_head(html, source);
  add_untimed(html, source, file);
  std::vector<ForestRow> rows;
  for (std::size_t i = 0; i < source.cases.size(); ++i) {
    const PairedCase& one = source.cases[i];
    if (!has_ratio(one)) continue;
    rows.push_back(
        {.name = one.case_id,
         .link = row_link(file, i),
         .detail = fmt::format("{} {}, {} rounds", one.device, one.timing, one.rounds.value_or(0)),
         .verdict = std::string(name(one.verdict)),
         .ratio = {*one.ratio, one.ratio_low.value_or(0), one.ratio_high.value_or(0)},
         .margin = one.margin.value_or(0)});
  }
  if (rows.empty()) return;
  add_forest(html,
             "Time of the candidate over that of the base, over paired rounds, with 95% intervals; "
             "dashed lines are at the margin of each case",
             "Verdict", std::move(rows), max_rows);
}

}  // namespace

void add_paired(Html& html, const Content& content) {
  if (content.input.paired.empty()) return;
  const Part part(html, "paired", "Two builds, paired");
  for (const PairedSource& source : content.input.paired) {
    add_one(html, source, content.file_of(source.csv));
  }
}

}  // namespace assay::page
