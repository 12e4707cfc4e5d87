#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/page/sections.h"

namespace assay::page {
namespace {

constexpr std::size_t most_rows = 60;

std::string counts_of(const PairedSource& source) {
  std::map<PairedVerdict, std::size_t> counts;
  for (const PairedCase& one : source.cases) ++counts[one.verdict];
  std::string text;
  for (const auto& [verdict, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name(verdict));
  }
  return text.empty() ? "no case" : text;
}

std::string_view word_of(const PairedSource& source) {
  if (!source.ended || source.interrupted) return "INCOMPLETE";
  switch (source.exit_code) {
    case 0:
      return "NO REGRESSION";
    case 5:
      return "REGRESSED";
    case 1:
      return "FAILED";
    case 4:
      return "BROKEN";
    default:
      return "NOT COMPARED";
  }
}

void add_head(Html& html, const PairedSource& source) {
  const bool passed = source.ended && !source.interrupted && source.exit_code == 0;
  html.begin("p", {{"class", passed ? "verdict passed" : "verdict failed"}});
  html.element("b", fmt::format("{} {}", passed ? "✓" : "✗", word_of(source)));
  html.text(" ");
  html.element("span", counts_of(source));
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
    if (one.ratio) continue;
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
  html.element("h3", source.directory.filename().string());
  add_head(html, source);
  add_untimed(html, source, file);
  std::vector<ForestRow> rows;
  for (std::size_t i = 0; i < source.cases.size(); ++i) {
    const PairedCase& one = source.cases[i];
    if (!one.ratio) continue;
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
             "Time of the candidate over that of the base, over paired rounds; dashed lines "
             "are at the margin of each case",
             std::move(rows), most_rows);
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
