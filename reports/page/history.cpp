#include <fmt/format.h>

#include <algorithm>

#include "reports/history/history_svg.h"
#include "reports/history/history_text.h"
#include "reports/page/sections.h"
#include "reports/si.h"

namespace assay::page {
namespace {

constexpr std::size_t max_panels = 40;
constexpr std::size_t max_changes = 100;
constexpr std::size_t max_runs = 400;

std::string text_of(const StoredRun& run) {
  return fmt::format("{} ({})", run.run_id, run.git_revision);
}

void add_changes(Html& html, const History& history) {
  const std::vector<FoundChange> changes = newest_changes(history);
  html.element("h3", fmt::format("Changes: {}", changes.size()));
  if (changes.empty()) return;
  const Table table(html, "The newest first; a place to look, no verdict",
                    {"Case", "Timing", "Host", "Device", "Settings", Heading::of_numbers("Change"),
                     Heading::of_numbers("p"), "Between"});
  for (std::size_t i = 0; i < std::min(changes.size(), max_changes); ++i) {
    const auto& [series, change] = changes[i];
    html.begin("tr");
    html.element("th", series->key.case_id, {{"scope", "row"}});
    html.element("td", series->key.timing);
    html.element("td", series->key.host);
    html.element("td", series->key.device);
    html.element("td", series->key.settings);
    add_number(html, change_in_words(change->ratio()), change->ratio());
    add_number(html, fmt::format("{:.3f}", change->at.p), change->at.p);
    html.element("td", text_of(history.runs[series->last_before(*change).run]) + " and " +
                           text_of(history.runs[series->first_after(*change).run]));
    html.end("tr");
  }
}

/// Says how many of `all` a list does not show.
void add_left_out(Html& html, std::size_t all, std::size_t most, std::string_view what) {
  if (all > most) html.element("p", fmt::format("{} older {} are not listed.", all - most, what));
}

void add_runs(Html& html, const History& history) {
  html.begin("details");
  html.element("summary", fmt::format("The {} runs", history.runs.size()));
  {
    const Table table(html, "The newest first",
                      {"Started", "Run", "Host", "Revision", "Build", "Exit code"});
    const std::size_t shown = std::min(history.runs.size(), max_runs);
    for (std::size_t i = 0; i < shown; ++i) {
      const std::size_t at = history.runs.size() - 1 - i;
      const StoredRun& run = history.runs[at];
      html.begin("tr");
      html.element("td", run.started_at);
      html.element("th", run.run_id, {{"scope", "row"}});
      html.element("td", run.host);
      html.element("td", run.git_revision);
      html.element("td", run.build_id + (history.is_reference[at] ? " (reference)" : ""));
      html.element("td", run.ended() ? fmt::format("{}", run.exit_code) : "not ended");
      html.end("tr");
    }
  }
  add_left_out(html, history.runs.size(), max_runs, "runs");
  html.end("details");
}

}  // namespace

void add_history(Html& html, const Content& content) {
  if (!content.input.history) return;
  const History& history = content.input.history->history;
  const Part part(html, "history", fmt::format("History: {} runs", history.runs.size()));
  html.element("p", history.relative
                        ? "Times are ratios to those of the reference build, measured beside each "
                          "run: below 1 is faster."
                        : "Times are absolute, and machines drift: a change of the machine looks "
                          "like one of the program. A pinned build that runs beside each run "
                          "(--reference) tells them apart.");
  for (const std::string& why : content.input.history->passed_over) {
    html.element("p", "Skipped: " + why, {{"class", "notes"}});
  }
  add_changes(html, history);
  add_left_out(html, newest_changes(history).size(), max_changes, "changes");
  const std::size_t file = content.file_of(content.input.history->points);
  const std::vector<std::string> panels =
      history_panels(history, max_panels, [&](std::size_t row) { return row_link(file, row); });
  const auto with_points = static_cast<std::size_t>(std::ranges::count_if(
      history.series, [](const HistorySeries& series) { return !series.points.empty(); }));
  html.element("h3", fmt::format("Series: {} of {}", panels.size(), with_points));
  html.element("p",
               "A line is the median of a level, the shaded part is where it changed (95%), a red "
               "mark at the foot is a run without a point. Series with the largest changes come "
               "first.");
  html.begin("div", {{"class", "charts"}});
  for (const std::string& panel : panels) html.raw(panel);
  html.end("div");
  add_runs(html, history);
}

}  // namespace assay::page
