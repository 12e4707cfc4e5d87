#include "reports/libraries/libraries_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kernels/core/names.h"
#include "reports/text/si.h"

namespace assay {
namespace {

void add_count(std::vector<std::string>& parts, std::int64_t count, const char* what) {
  if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
}

/// Shows an end of an interval, which is far away where few trials disagree.
std::string end_text(double end) {
  return end > 1e-3 && end < 1e4 ? ratio_text(end) : fmt::format("{:.0e}", end);
}

std::string interval_text(const LibraryTimes& times) {
  if (!times.interval) return "";
  return end_text(times.interval->low) + " to " + end_text(times.interval->high);
}

/// "1.31 (1.20 to 1.42) over 6: 5 slower"
std::string times_text(const LibraryTimes& times) {
  if (times.trials == 0) return "";
  std::string text = ratio_text(times.ratio);
  if (times.interval) text += fmt::format(" ({})", interval_text(times));
  text += fmt::format(" over {}", times.trials);
  std::vector<std::string> surely;
  add_count(surely, static_cast<std::int64_t>(times.slower), "slower");
  add_count(surely, static_cast<std::int64_t>(times.faster), "faster");
  return surely.empty() ? text : text + ": " + join(surely, ", ");
}

Section summary_section(const LibrariesFacts& facts) {
  Section section{.title = "Which library is right"};
  section.header = {"kernels", "run",     "asked",       "right", "wrong",
                    "failed",  "skipped", "not offered", "time",  "95% over trials",
                    "timed",   "slower",  "faster"};
  section.alignment = "<<>>>>>>>>>>>";
  std::size_t disturbed = 0;
  for (std::size_t i = 0; i < facts.runs.size(); ++i) {
    const auto& [outcomes, times] = facts.table.all[i];
    const auto count = [](auto number) { return fmt::format("{}", number); };
    std::vector<std::string> row{facts.runs[i].kernels,   facts.directories[i],
                                 count(outcomes.asked),   count(outcomes.right),
                                 count(outcomes.wrong),   count(outcomes.broken),
                                 count(outcomes.skipped), count(outcomes.not_offered)};
    if (times.trials > 0) {
      const std::vector<std::string> figures{ratio_text(times.ratio), interval_text(times),
                                             count(times.trials), count(times.slower),
                                             count(times.faster)};
      row.insert(row.end(), figures.begin(), figures.end());
    }
    row.resize(section.header.size());
    section.rows.push_back(std::move(row));
    disturbed += times.disturbed;
  }
  section.lines.push_back(fmt::format(
      "A time is that over {}'s: the geometric mean of the trials that both timed and both got "
      "right; a wrong result has none.",
      facts.runs.front().kernels));
  section.lines.emplace_back(
      "Slower and faster are trials of which the whole interval lies beyond 1. Each interval is of "
      "one process: assay ab decides such questions.");
  if (disturbed > 0) {
    section.lines.push_back(fmt::format("{} were contended or throttled on a side",
                                        counted(static_cast<std::int64_t>(disturbed), "ratio")));
  }
  return section;
}

/// Lists each difference from the first run once, with the runs that have it.
Section environment_section(const LibrariesFacts& facts) {
  Section section{.title = "Differences from the run of " + facts.runs.front().kernels};
  section.header = {"what", "there", "here", "kernels"};
  section.alignment = "<<<<";
  std::vector<std::pair<const Difference*, std::vector<std::string>>> merged;
  for (std::size_t i = 0; i < facts.runs.size(); ++i) {
    for (const Difference& difference : facts.differences[i]) {
      auto found =
          std::ranges::find_if(merged, [&](const auto& m) { return *m.first == difference; });
      if (found == merged.end()) found = merged.insert(found, {&difference, {}});
      found->second.push_back(facts.runs[i].kernels);
    }
  }
  for (const auto& [difference, kernels] : merged) {
    section.rows.push_back(
        {difference->what, difference->base, difference->cand, join(kernels, ", ")});
  }
  return section;
}

/// Makes a table with a column for each run and a row for each op.
Section by_op(const LibrariesFacts& facts, std::string title,
              std::span<const LibraryRow* const> rows, char side,
              const std::function<std::string(const LibraryCell&)>& text) {
  Section section{.title = std::move(title)};
  section.header = {"on", "op", "dtype"};
  section.alignment = "<<<";
  for (const LibraryRun& run : facts.runs) {
    section.header.push_back(run.kernels);
    section.alignment += side;
  }
  for (const LibraryRow* row : rows.first(std::min(rows.size(), facts.longest_list))) {
    std::vector<std::string> cells{row->device, row->suite + "/" + row->op, row->dtype};
    for (const LibraryCell& cell : row->cells) cells.push_back(text(cell));
    section.rows.push_back(std::move(cells));
  }
  section.left_out = rows.size() - section.rows.size();
  section.left_out_are_in = "--all lists them, --csv FILE has every one";
  return section;
}

bool any_bad(const LibraryRow& row) {
  return std::ranges::any_of(row.cells, [](const LibraryCell& cell) {
    return cell.outcomes.wrong + cell.outcomes.broken > 0;
  });
}

/// Lists rows with a wrong or failed result first.
Section outcomes_section(const LibrariesFacts& facts) {
  std::vector<const LibraryRow*> rows;
  for (const LibraryRow& row : facts.table.rows) rows.push_back(&row);
  std::ranges::stable_partition(rows, [](const LibraryRow* row) { return any_bad(*row); });
  return by_op(facts, "Right and wrong by op", rows, '<',
               [](const LibraryCell& cell) { return outcomes_text(cell.outcomes); });
}

/// Returns how far the times of a row are from the first run's, either way; 0 without times.
double farthest(const LibraryRow& row) {
  double far = 0;
  for (const LibraryCell& cell : row.cells) {
    if (cell.times.trials > 0) far = std::max(far, std::abs(std::log(cell.times.ratio)));
  }
  return far;
}

bool is_timed(const LibraryRow& row) {
  return std::ranges::any_of(row.cells,
                             [](const LibraryCell& cell) { return cell.times.trials > 0; });
}

/// Lists the rows whose times are farthest apart first.
Section times_section(const LibrariesFacts& facts) {
  std::vector<const LibraryRow*> rows;
  for (const LibraryRow& row : facts.table.rows) {
    if (is_timed(row)) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::greater<>(),
                           [](const LibraryRow* row) { return farthest(*row); });
  Section section =
      by_op(facts, "Time over that of " + facts.runs.front().kernels + ", by op", rows, '<',
            [](const LibraryCell& cell) { return times_text(cell.times); });
  section.header.erase(section.header.begin() + 3);  // the first run's own column says nothing
  section.alignment.pop_back();
  for (auto& row : section.rows) row.erase(row.begin() + 3);
  return section;
}

}  // namespace

std::string outcomes_text(const LibraryOutcomes& outcomes) {
  if (outcomes.asked == 0) return "";
  if (outcomes.not_offered == outcomes.asked) return "not offered";
  std::vector<std::string> parts;
  add_count(parts, outcomes.right, "right");
  add_count(parts, outcomes.wrong, "wrong");
  add_count(parts, outcomes.broken, "failed");
  add_count(parts, outcomes.skipped, "skipped");
  add_count(parts, outcomes.not_offered, "not offered");
  return join(parts, ", ");
}

std::vector<Section> libraries_sections(const LibrariesFacts& facts) {
  std::vector<Section> sections{summary_section(facts)};
  const auto add = [&](Section section) {
    if (!section.rows.empty()) sections.push_back(std::move(section));
  };
  add(environment_section(facts));
  add(outcomes_section(facts));
  add(times_section(facts));
  return sections;
}

std::string libraries_summary(const LibrariesFacts& facts) {
  LibraryOutcomes all;
  std::size_t timed = 0;
  for (const LibraryCell& cell : facts.table.all) {
    all += cell.outcomes;
    timed += cell.times.trials;
  }
  std::string text = fmt::format(
      "libraries: {} runs, {} by op and dtype: {} right, {} wrong, {} failed, {} skipped, {} not "
      "offered",
      facts.runs.size(), counted(std::ssize(facts.table.rows), "row"), all.right, all.wrong,
      all.broken, all.skipped, all.not_offered);
  if (all.known > 0) text += fmt::format("; {} of the wrong and failed are known", all.known);
  if (timed == 0) return text + "; no times to compare";
  return text + "; " + counted(static_cast<std::int64_t>(timed), "time") + " compared";
}

}  // namespace assay
