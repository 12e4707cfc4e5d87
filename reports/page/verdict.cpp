#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/records/replay.h"
#include "kernels/core/names.h"
#include "reports/explanation.h"
#include "reports/page/sections.h"
#include "reports/time_spent.h"

namespace assay::page {
namespace {

constexpr std::size_t max_problems = 50;

void add_fact(Html& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  html.element("dt", name);
  html.element("dd", value);
}

/// Shows the command as one would type it, without the path of the program.
std::string words(std::vector<std::string> command_line) {
  if (command_line.empty()) return {};
  command_line.front() = std::filesystem::path(command_line.front()).filename().string();
  for (std::string& word : command_line) word = shell_word(word);
  return join(command_line, " ");
}

void add_banner(Html& html, bool passed, std::string_view word, std::string_view why) {
  html.begin("p", {{"class", passed ? "verdict passed" : "verdict failed"}});
  html.element("b", fmt::format("{} {}", passed ? "✓" : "✗", word));
  html.text(" ");
  html.element("span", why);
  html.end("p");
}

void add_run(Html& html, const RunSource& source, std::size_t number, std::size_t of) {
  const StoredRun& run = source.run;
  html.begin("article", {{"class", "run"}});
  html.element("h3", of == 1 ? run.run_id : fmt::format("Run {}: {}", number, run.run_id));
  add_banner(html, source.verdict.passed, source.verdict.word, source.verdict.why);
  html.begin("dl");
  std::map<std::string, int> stand_ins;
  for (const DeviceCells& cells : source.devices) {
    if (const std::string kind = stand_in_of(cells); !kind.empty()) ++stand_ins[kind];
  }
  for (const auto& [kind, count] : stand_ins) {
    add_fact(html, "No hardware",
             fmt::format("{} of {} devices {} {}: their figures are no hardware's", count,
                         source.devices.size(), count == 1 ? "is" : "are", kind));
  }
  add_fact(html, "Trials", fmt::format("{}; {} planned", source.tally.text(), run.planned));
  add_fact(html, "Host", run.host);
  add_fact(html, "Started", run.started_at);
  add_fact(html, "Program",
           fmt::format("assay {} {} {}", run.version, run.git_revision, run.build_type));
  add_fact(html, "Selection",
           fmt::format("profile {}, seed {}{}", run.profile.empty() ? "default" : run.profile,
                       run.seed, run.check_only ? ", checked only, not timed" : ""));
  add_fact(html, "Command", words(run.command_line));
  add_fact(html, "Exit code", run.ended() ? fmt::format("{}", run.exit_code) : "none: not ended");
  add_fact(html, "Took", took(run));
  add_fact(html, "Sessions", join(sessions(run), "; "));
  html.end("dl");
  if (!run.notes.empty()) {
    html.begin("ul", {{"class", "notes"}});
    for (const std::string& note : run.notes) html.element("li", note);
    html.end("ul");
  }
  html.end("article");
}

struct Problem {
  const Record* trial;
  std::size_t run;
  std::size_t row;
};

/// Orders problems: wrong results first, then broken ones, the largest error first.
std::vector<Problem> problems_of(const Content& content) {
  std::vector<Problem> problems;
  const std::vector<RunSource>& runs = content.input.runs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].trials.size(); ++i) {
      const Record& trial = runs[r].trials[i];
      if (!trial.expected_failure.empty() || !turns_red(trial.status, runs[r].run)) continue;
      problems.push_back({&trial, r, runs[r].rows[i]});
    }
  }
  std::ranges::stable_sort(problems, [](const Problem& a, const Problem& b) {
    const auto rank = [](const Record& trial) {
      return std::tuple(severity(trial.status, false), excess(trial), trial.mismatches.value_or(0));
    };
    return rank(*a.trial) > rank(*b.trial);
  });
  return problems;
}

std::string worst_text(const Record& trial) {
  std::vector<std::string> parts;
  if (trial.mismatches && trial.elements) {
    parts.push_back(fmt::format("{} of {} elements", *trial.mismatches, *trial.elements));
  }
  if (trial.worst_index) {
    parts.push_back(fmt::format("worst at [{}]: expected {}, got {}", *trial.worst_index,
                                trial.worst_expected, trial.worst_actual));
  }
  if (const std::string excess = excess_text(trial); !excess.empty()) parts.push_back(excess);
  return join(parts, "; ");
}

/// Says, if no result is wrong, whether one is missing.
void add_no_problem(Html& html, const std::vector<RunSource>& runs) {
  bool all_passed = true;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].verdict.passed) continue;
    all_passed = false;
    html.element("p", fmt::format("No result of {} is wrong, but it did not pass: {}.",
                                  runs.size() == 1 ? "the run" : fmt::format("run {}", i + 1),
                                  runs[i].verdict.why));
  }
  if (all_passed) html.element("p", "No result is wrong, and none is missing.");
}

}  // namespace

void add_verdict(Html& html, const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  if (runs.empty()) return;
  const Part part(html, "verdict", runs.size() == 1 ? "The run" : "The runs");
  html.begin("div", {{"class", "runs"}});
  for (std::size_t i = 0; i < runs.size(); ++i) add_run(html, runs[i], i + 1, runs.size());
  html.end("div");
}

void add_problems(Html& html, const Content& content) {
  if (content.input.runs.empty()) return;
  const std::vector<Problem> problems = problems_of(content);
  const Part part(html, "problems", fmt::format("What is not right: {}", problems.size()));
  if (problems.empty()) {
    add_no_problem(html, content.input.runs);
    return;
  }
  html.begin("ol", {{"class", "problems"}});
  for (std::size_t i = 0; i < std::min(problems.size(), max_problems); ++i) {
    const Record& trial = *problems[i].trial;
    html.begin("li");
    html.begin("p");
    add_status(html, trial);
    html.text(" ");
    html.element("a", trial.case_id, {{"href", row_link(problems[i].run, problems[i].row)}});
    html.text(
        fmt::format(" on {}{}{}", trial.device, trial.timing.empty() ? "" : ", ", trial.timing));
    html.end("p");
    html.element("p", trial.reason.empty() ? "no reason given" : trial.reason);
    if (const std::string worst = worst_text(trial); !worst.empty()) html.element("p", worst);
    if (!trial.replay.empty()) add_command(html, trial.replay);
    html.end("li");
  }
  html.end("ol");
  if (problems.size() > max_problems) {
    html.begin("p");
    html.text(fmt::format("{} more: ", problems.size() - max_problems));
    html.element("a", "all of them in the table of results", {{"href", "#status=bad"}});
    html.end("p");
  }
}

}  // namespace assay::page
