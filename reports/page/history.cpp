#include <fmt/format.h>

#include <algorithm>

#include "reports/history/history_svg.h"
#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr std::size_t max_series_panels = 40;
constexpr std::size_t max_changes = 100;
constexpr std::size_t max_runs = 400;

std::string folder_of(const StoredRun& run) { return run.directory.filename().string(); }

/// "run09 and run10", with their revisions if these differ.
std::string between(const StoredRun& before, const StoredRun& after) {
  const auto text = [&](const StoredRun& run) {
    return before.git_revision == after.git_revision
               ? folder_of(run)
               : fmt::format("{} ({})", folder_of(run), run.git_revision);
  };
  return text(before) + " and " + text(after);
}

/// Says how many of `all` a list does not show.
std::string left_out(std::size_t all, std::size_t most, std::string_view what) {
  return all > most ? fmt::format(" {} older {} are not listed.", all - most, what) : "";
}

Json table_of_changes(const History& history, const std::vector<FoundChange>& changes) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(changes.size(), max_changes); ++i) {
    const auto& [series, change] = changes[i];
    Json id = head_cell("");
    id["class"] = "id";
    id["pieces"] = pieces(series->key.case_id);
    Json size = number_cell(change_in_words(change->ratio()), change->ratio());
    size["class"] = change->ratio() > 1 ? "number verdict-slower" : "number verdict-faster";
    size["text"] = (change->ratio() > 1 ? "▲ " : "▼ ") + change_in_words(change->ratio());
    Json cells = Json::array({std::move(id)});
    cells.push_back(std::move(size));
    cells.push_back(text_cell(between(history.runs[series->last_before(*change).run],
                                      history.runs[series->first_after(*change).run])));
    cells.push_back(number_cell(fmt::format("{:.3f}", change->at.p), change->at.p));
    for (const std::string& text :
         {series->key.timing, series->key.host, series->key.device, series->key.settings}) {
      cells.push_back(text_cell(text));
    }
    rows.push_back(std::move(cells));
  }
  Json made = table("The newest first; a place to look, no verdict",
                    {"Case", Heading::of_numbers("Change"), "Between", Heading::of_numbers("p"),
                     "Timing", "Host", "Device", "Settings"},
                    std::move(rows));
  made["hint"] = left_out(changes.size(), max_changes, "changes");
  return made;
}

Json table_of_runs(const History& history) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(history.runs.size(), max_runs); ++i) {
    const std::size_t at = history.runs.size() - 1 - i;
    const StoredRun& run = history.runs[at];
    Json cells = Json::array({text_cell(run.started_at)});
    cells.push_back(head_cell(run.run_id));
    for (const std::string& text :
         {run.host, run.git_revision,
          run.build_id + (history.is_reference[at] ? " (reference)" : ""),
          run.ended() ? fmt::format("{}", run.exit_code) : std::string("not ended")}) {
      cells.push_back(text_cell(text));
    }
    rows.push_back(std::move(cells));
  }
  Json made = table("The newest first",
                    {"Started", "Run", "Host", "Revision", "Build", "Exit code"}, std::move(rows));
  made["hint"] = left_out(history.runs.size(), max_runs, "runs");
  return made;
}

}  // namespace

Json history_part(const Content& content) {
  if (!content.input.history) return nullptr;
  const History& history = content.input.history->history;
  const std::vector<FoundChange> changes = newest_changes(history);
  const std::size_t file = content.file_of(content.input.history->points);
  const std::vector<std::string> panels = history_panels(
      history, max_series_panels, [&](std::size_t row) { return row_link(file, row); });
  const auto with_points = static_cast<std::size_t>(std::ranges::count_if(
      history.series, [](const HistorySeries& series) { return !series.points.empty(); }));
  Json drawn = Json::array();
  for (const std::string& panel : panels) drawn.push_back({{"chart", panel}});
  Json skipped = Json::array();
  for (const std::string& why : content.input.history->passed_over)
    skipped.push_back("Skipped: " + why);
  return {{"title", fmt::format("History: {} runs", history.runs.size())},
          {"relative", history.relative},
          {"skipped", std::move(skipped)},
          {"changes_title", fmt::format("Changes: {}", changes.size())},
          {"changes",
           changes.empty() ? Json(nullptr) : Json::array({table_of_changes(history, changes)})},
          {"series_title", fmt::format("Series: {} of {}", panels.size(), with_points)},
          {"panels", std::move(drawn)},
          {"runs_title", fmt::format("The {} runs", history.runs.size())},
          {"runs", Json::array({table_of_runs(history)})}};
}

}  // namespace assay::page
