#include "reports/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/chart/svg.h"
#include "reports/files/gzip.h"
#include "reports/page/assets.h"
#include "reports/page/sections.h"

namespace assay::page {
namespace {

std::string bytes_of(std::string_view hexadecimal) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

/// Forbids fetching, and all scripts but ours.
std::string policy() {
  return fmt::format(
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; "
      "form-action 'none'",
      base64(bytes_of(script_sha256)));
}

std::size_t base_column(const Columns& columns, const std::string& wanted) {
  if (wanted.empty()) return 0;
  std::vector<std::string> labels;
  for (const Column& column : columns.all()) labels.push_back(column.name);
  // A device without a run is that of the first run.
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (column.name == wanted || column.label == wanted || column.device == wanted) return i;
  }
  throw UsageError("--baseline: " + unknown_name("column", wanted, labels));
}

std::string title_of(const PageInput& input) {
  if (input.runs.size() == 1 && input.paired.empty() && !input.history) {
    return fmt::format("assay: {} on {}", input.runs.front().verdict.word,
                       input.runs.front().run.host);
  }
  std::vector<std::string> parts;
  const auto add = [&](std::size_t n, std::string_view one, std::string_view many) {
    if (n > 0) parts.push_back(fmt::format("{} {}", n, n == 1 ? one : many));
  };
  add(input.runs.size(), "run", "runs");
  add(input.paired.size(), "paired comparison", "paired comparisons");
  add(input.history ? 1 : 0, "history", "histories");
  return "assay: " + join(parts, ", ");
}

/// Lists the parts of the page in order.
void add_menu(Html& html, std::string_view body) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> entries{
      {{"verdict", "Verdict"},
       {"paired", "Paired"},
       {"history", "History"},
       {"problems", "What is not right"},
       {"correctness", "What is right"},
       {"speed", "How fast"},
       {"against", "Side by side"},
       {"charts", "Charts"},
       {"environment", "Devices"},
       {"limits", "Limits"},
       {"results", "All results"}}};
  html.begin("nav", {{"aria-label", "Parts of this page"}});
  for (const auto& [id, name] : entries) {
    if (body.find(fmt::format("<section id=\"{}\"", id)) == std::string_view::npos) continue;
    html.element("a", name, {{"href", fmt::format("#{}", id)}});
  }
  html.end("nav");
}

std::string body_of(const Content& content) {
  Html html;
  add_verdict(html, content);
  add_paired(html, content);
  add_history(html, content);
  add_problems(html, content);
  add_correctness(html, content);
  add_speed(html, content);
  add_against(html, content);
  add_charts(html, content);
  add_environment(html, content);
  add_limits(html, content);
  add_results(html, content);
  return html.take();
}

}  // namespace

Content::Content(const PageInput& of)
    : input(of),
      columns(of.runs),
      grid(make_grid(of.runs, columns)),
      base(columns.size() == 0 ? 0 : base_column(columns, of.baseline)) {
  for (const RunSource& run : of.runs) files.push_back(&run.results);
  for (const RunSource& run : of.runs) {
    if (!run.limits_csv.bytes.empty()) files.push_back(&run.limits_csv);
  }
  for (const PairedSource& source : of.paired) files.push_back(&source.csv);
  if (of.history) files.push_back(&of.history->points);
}

std::size_t Content::file_of(const CsvSource& source) const {
  return static_cast<std::size_t>(std::ranges::find(files, &source) - files.begin());
}

std::string page_html(const PageInput& input) {
  const Content content(input);
  const std::string body = body_of(content);
  Html html;
  html.raw("<!DOCTYPE html>");
  html.begin("html", {{"lang", "en"}});
  html.begin("head");
  html.raw("\n<meta charset=\"utf-8\">");
  html.raw("\n<meta name=\"generator\" content=\"assay\">");
  html.raw("\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
  html.raw(fmt::format("\n<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", policy()));
  html.raw("\n<meta name=\"color-scheme\" content=\"light dark\">");
  html.element("title", title_of(input));
  html.begin("style");
  html.raw(style_sheet);
  html.raw(chart_style());
  html.end("style");
  html.end("head");
  html.begin("body");
  html.element("a", "Skip to the content", {{"class", "skip"}, {"href", "#content"}});
  html.begin("header");
  html.element("h1", title_of(input));
  add_menu(html, body);
  html.end("header");
  html.begin("main", {{"id", "content"}});
  html.raw(body);
  html.end("main");
  html.begin("footer");
  html.element("p",
               "Written by " + input.made_by +
                   ". An interval behind a figure is the 95% interval of its median within one "
                   "process, unless its table says otherwise.");
  html.end("footer");
  html.begin("script");
  html.raw(script);
  html.end("script");
  html.end("body");
  html.end("html");
  return html.take() + "\n";
}

}  // namespace assay::page
