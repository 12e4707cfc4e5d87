#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "kernels/core/names.h"
#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/page/findings.h"
#include "reports/page/runs.h"
#include "reports/page/tiles.h"
#include "reports/text/si.h"
#include "reports/text/time_spent.h"

namespace assay::page {
namespace {

/// The worst of several: FAILED before INCOMPLETE before PASSED.
void worsen(Word& word, const Word& other) {
  const auto rank = [](const Word& one) {
    return one.word == "FAILED" ? 2 : one.word == "INCOMPLETE" ? 1 : 0;
  };
  if (rank(other) > rank(word)) word = other;
}

/// "Both runs are right", or the first one that is not.
std::string sentence_of_runs(const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  const auto first =
      std::ranges::find_if(runs, [](const RunSource& run) { return !run.verdict.passed; });
  if (first == runs.end()) {
    return runs.size() == 2 ? "both runs are right"
                            : fmt::format("all {} runs are right", runs.size());
  }
  const auto bad =
      std::ranges::count_if(runs, [](const RunSource& run) { return !run.verdict.passed; });
  std::string text =
      fmt::format("{}: {}", content.columns.run(static_cast<std::size_t>(first - runs.begin())),
                  run_sentence(*first));
  if (bad > 1) text += fmt::format(", and {} more did not pass", counted(bad - 1, "run"));
  return text;
}

std::string whole_sentence(const Content& content) {
  const PageInput& input = content.input;
  std::vector<std::string> parts;
  for (const PairedSource& source : input.paired) parts.push_back(paired_sentence(source));
  if (input.history) parts.push_back(history_sentence(*input.history));
  const std::string speed = speed_sentence(content);
  if (input.runs.size() > 1 && !speed.empty()) parts.push_back(speed);
  if (input.runs.size() > 1) parts.push_back(sentence_of_runs(content));
  if (input.runs.size() == 1) {
    std::string sentence = run_sentence(input.runs.front());
    if (input.history && sentence.starts_with("All ")) sentence.replace(0, 1, "a");
    parts.push_back((input.history ? "newest run: " : "") + sentence);
    // Devices that are alike, or a run that did not pass, have no story of speed.
    const bool differ = speed.find(" is as fast as ") == std::string::npos;
    if (!speed.empty() && differ && input.runs.front().verdict.passed) parts.push_back(speed);
  }
  std::string text = join(parts, "; ");
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
      (input.runs.size() > 1 && speed.empty() && input.paired.empty() && !input.history &&
       input.runs.front().verdict.passed)) {
    text.front() -= 'a' - 'A';
  }
  return text;
}

/// Shows "2026-11-22T13:52:04.366Z" as "22 Nov 2026, 13:52 UTC".
std::string day_and_time(const std::string& utc) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  int month = 0;
  if (utc.size() < 16 || std::from_chars(&utc[5], &utc[7], month).ptr != &utc[7]) return utc;
  if (month < 1 || month > 12) return utc;
  return fmt::format("{} {} {}, {} UTC", utc.substr(utc[8] == '0' ? 9 : 8, utc[8] == '0' ? 1 : 2),
                     months.at(static_cast<unsigned>(month - 1)), utc.substr(0, 4),
                     utc.substr(11, 5));
}

/// "node7 · 22 Nov 2026, 13:52 UTC · 342 s": where the one run was.
std::string below_of(const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  if (runs.empty() && content.input.paired.size() == 1) {
    const PairedSource& source = content.input.paired.front();
    std::vector<std::string> sides{source.base, source.cand};
    leave_out_common_words(sides);
    for (std::string& side : sides) side = side == "–" ? "the program alone" : side;
    return join(std::vector{source.host, day_and_time(source.started_at), "base: " + sides[0],
                            "candidate: " + sides[1]},
                " · ");
  }
  if (runs.size() != 1) return {};
  const StoredRun& run = runs.front().run;
  std::vector<std::string> parts{
      run.host, day_and_time(run.started_at), took(run),
      fmt::format("profile {}, seed {}", run.profile.empty() ? "default" : run.profile, run.seed)};
  std::erase(parts, "");
  return join(parts, " · ");
}

}  // namespace

Json verdict_part(const Content& content) {
  const PageInput& input = content.input;
  Word word = passed_word();
  for (const RunSource& run : input.runs) worsen(word, word_of(run));
  for (const PairedSource& source : input.paired) worsen(word, word_of(source));
  Json notes = Json::array();
  Json runs = Json::array();
  for (std::size_t r = 0; r < input.runs.size(); ++r) {
    runs.push_back(facts_of_run(content, r));
    for (const std::string& note : input.runs[r].run.notes) {
      notes.push_back(input.runs.size() == 1 ? note : fmt::format("run {}: {}", r + 1, note));
    }
  }
  return {{"word", word.sign + " " + word.word},
          {"kind", word.kind},
          {"sentence", whole_sentence(content)},
          {"where", below_of(content)},
          {"has_notes", !notes.empty()},
          {"notes", std::move(notes)},
          {"has_runs", !runs.empty()},
          {"runs", std::move(runs)},
          {"tiles", input.runs.size() == 1                           ? tiles_of(content, 0)
                    : input.runs.empty() && input.paired.size() == 1 ? tiles_of(input.paired[0])
                                                                     : Json(nullptr)},
          {"side_by_side", table_of_runs(content)},
          {"differences", table_of_differences(content)}};
}

}  // namespace assay::page
