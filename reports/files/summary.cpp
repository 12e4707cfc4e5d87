#include "reports/files/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/records/replay.h"
#include "reports/text/explanation.h"
#include "reports/text/markdown.h"
#include "reports/text/outcomes.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"
#include "reports/text/time_spent.h"

namespace assay {
namespace {

constexpr std::size_t shown_of_each_status = 3;

std::string table(std::span<const std::string> header, std::span<const std::string> alignment,
                  std::span<const std::vector<std::string>> rows) {
  std::string text = markdown_row(header) + "\n" + markdown_row(alignment) + "\n";
  for (const auto& row : rows) text += markdown_row(row) + "\n";
  return text + "\n";
}

std::string head(const RunInfo& run, const Tally& tally) {
  const RunVerdict result = run_verdict(run, tally);
  std::string text = fmt::format("## assay: {}\n\n**{}**: {} (exit code {}).\n\n", result.word,
                                 result.word, result.why, run.exit_code);
  text += fmt::format("{}; {} planned; seed {}", tally.text(), run.planned, run.seed);
  if (!run.profile.empty()) text += "; profile " + markdown_code(run.profile);
  if (run.check_only) text += "; checked only, not timed";
  text += fmt::format("; host {}; version {}", markdown_text(run.host), markdown_text(run.version));
  return text + "\n\n";
}

std::string suites_table(std::span<const Record> trials) {
  std::map<std::pair<std::string, std::string>, Tally> by_suite;
  for (const Record& trial : trials) by_suite[{trial.suite, trial.device}].add(trial);
  std::vector<std::vector<std::string>> rows;
  rows.reserve(by_suite.size());
  for (const auto& [key, tally] : by_suite) {
    rows.push_back({markdown_text(key.first), markdown_code(key.second),
                    fmt::format("{}", tally.count(StatusClass::right)),
                    fmt::format("{}", tally.count(StatusClass::wrong)),
                    fmt::format("{}", tally.count(StatusClass::broken)),
                    fmt::format("{}", tally.count(StatusClass::skipped))});
  }
  if (rows.empty()) return {};
  const std::vector<std::string> header{"suite", "device", "pass", "wrong", "broken", "skip"};
  const std::vector<std::string> alignment{":--", ":--", "--:", "--:", "--:", "--:"};
  return table(header, alignment, rows);
}

/// Orders by the error over the allowed one, then by mismatches, the largest first.
bool is_worse(const Record* a, const Record* b) {
  const auto rank = [](const Record& r) {
    const double ratio = r.max_bound_ratio.value_or(0);
    return std::pair(ratio >= 0 ? ratio : 0, r.mismatches.value_or(0));  // NaN has no order
  };
  return rank(*a) > rank(*b);
}

std::string failure_item(const Record& trial) {
  std::string text =
      fmt::format("- {} on {}", markdown_code(trial.case_id), markdown_code(trial.device));
  if (!trial.timing.empty()) text += ", " + markdown_text(trial.timing);
  text += ": " + (trial.reason.empty() ? "no reason given" : markdown_text(trial.reason));
  if (const std::string excess = excess_text(trial); !excess.empty()) text += "; " + excess;
  if (!trial.expected_failure.empty()) {
    text += " (expected: " + markdown_text(trial.expected_failure) + ")";
  }
  if (!trial.replay.empty()) text += "\n  " + markdown_code(trial.replay);
  return text + "\n";
}

/// The worst of those for which `has`, under a heading.
template <class Has>
std::string failures_under(std::string_view heading, std::span<const Record> trials, Has has) {
  std::vector<const Record*> found;
  for (const Record& trial : trials) {
    if (has(trial)) found.push_back(&trial);
  }
  if (found.empty()) return {};
  std::stable_sort(found.begin(), found.end(), is_worse);
  const std::size_t shown = std::min(found.size(), shown_of_each_status);
  std::string text = fmt::format("### {}: {}\n\n", markdown_text(heading), found.size());
  for (std::size_t i = 0; i < shown; ++i) text += failure_item(*found[i]);
  if (shown < found.size()) {
    text += fmt::format("- and {} more in `results.csv`\n", found.size() - shown);
  }
  return text + "\n";
}

std::string failures(std::span<const Record> trials) {
  std::string text;
  for (const Status status : all_statuses()) {
    if (status == Status::pass || status == Status::skip) continue;
    text += failures_under(name(status), trials, [&](const Record& trial) {
      return trial.status == status && trial.expected_failure.empty();
    });
  }
  text += failures_under("expected failures", trials,
                         [](const Record& trial) { return !trial.expected_failure.empty(); });
  return text + failures_under(name(Status::skip), trials,
                               [](const Record& trial) { return trial.status == Status::skip; });
}

std::string notes(const RunInfo& run) {
  std::string text;
  for (const std::string& note : run.notes) text += "- " + markdown_text(note) + "\n";
  return text.empty() ? text : "### Notes\n\n" + text + "\n";
}

/// Shows for each suite and kind of rate the verified trial with the highest rate.
std::string best_rates(std::span<const Record> trials) {
  std::map<std::pair<std::string, RateKind>, const Record*> best;
  for (const Record& trial : trials) {
    const auto own = rate(trial);
    if (!own) continue;
    const Record*& held = best[{trial.suite, own->kind}];
    if (held == nullptr || rate(*held)->per_s < own->per_s) held = &trial;
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(best.size());
  for (const auto& [key, trial] : best) {
    std::string time = trial->time_median_s ? si(*trial->time_median_s, "s") : "";
    if (trial->throttled.value_or(false)) time += " (throttled)";
    if (trial->contended.value_or(false)) time += " (contended)";
    rows.push_back(
        {markdown_text(key.first), markdown_code(trial->case_id), markdown_code(trial->device),
         time, si(rate(*trial)->per_s, unit_of(key.second)),
         trial->fraction_of_limit ? fmt::format("{:.0f}%", *trial->fraction_of_limit * 100) : ""});
  }
  if (rows.empty()) return {};
  const std::vector<std::string> header{"suite",       "best case", "device",
                                        "median time", "rate",      "of limit"};
  const std::vector<std::string> alignment{":--", ":--", ":--", "--:", "--:", "--:"};
  return table(header, alignment, rows);
}

/// Says where the rest is.
std::string files_line(const RunInfo& run) {
  if (run.directory.empty()) return {};
  const std::string directory = shell_word(run.directory.string());
  return fmt::format("Every row is in {}; all of it on a page: {}.\n\n",
                     markdown_code((run.directory / "results.csv").string()),
                     markdown_code(fmt::format("assay report {} -o report.html", directory)));
}

std::string time_line(const RunInfo& run) {
  std::string text = time_spent(run);
  if (text.empty()) return text;
  std::string lines = "time: " + markdown_text(text) + "\n\n";
  for (const std::string& session : sessions(run)) lines += "- " + markdown_text(session) + "\n";
  return sessions(run).empty() ? lines : lines + "\n";
}

}  // namespace

std::string summary_markdown(const RunInfo& run, const Outcomes& outcomes) {
  const std::vector<Record> trials = outcomes.trials();
  return head(run, outcomes.tally()) + suites_table(trials) + failures(trials) + notes(run) +
         best_rates(trials) + files_line(run) + time_line(run);
}

}  // namespace assay
