#include "reports/page/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/core/names.h"
#include "reports/compare/paired_summary.h"
#include "reports/compare/visible_change.h"
#include "reports/page/cells.h"
#include "reports/page/differences.h"
#include "reports/text/quality.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr std::size_t max_named_changes = 3;
constexpr std::size_t max_named_speeds = 3;

std::int64_t missing(const RunSource& run) {
  return std::max<std::int64_t>(run.run.planned - run.tally.finished, 0);
}

/// "All 2,446 results are right", with what was left out of them.
std::string all_right(const RunSource& run) {
  const std::int64_t right = run.tally.count(StatusClass::right);
  std::string text = right == 1 ? "The one result is right"
                                : fmt::format("All {} results are right", with_commas(right));
  if (const std::int64_t flaky = run.tally.count(Status::flaky); flaky > 0) {
    text += fmt::format(", {} flaky and accepted", with_commas(flaky));
  }
  if (run.tally.expected > 0) {
    text += ", beside " + counted(run.tally.expected, "known failure");
  }
  if (const std::int64_t skipped = run.tally.count(StatusClass::skipped); skipped > 0) {
    text += fmt::format(", {} skipped", with_commas(skipped));
  }
  return text;
}

std::string quality_sentence(const RunSource& run) {
  const Quality quality = quality_of(run.trials);
  if (quality.contended == 0) return {};
  return quality.contended == quality.timed
             ? "; every time was taken on a busy machine"
             : fmt::format("; {} of {} times were taken on a busy machine",
                           with_commas(quality.contended), with_commas(quality.timed));
}

std::string capitalized(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
  return text;
}

/// The verdict with its sign.
Word marked(std::string_view verdict) {
  if (verdict == passed_word().word) return passed_word();
  return verdict == incomplete_word().word ? incomplete_word() : failed_word();
}

bool disagrees(const PairedSource& source) {
  if (!source.ended || source.interrupted) return false;
  const std::string_view word = paired_word(tally(source.cases));
  // An open comparison may end either way.
  return word == "FAILED" ? source.exit_code == 0 : word == "PASSED" && source.exit_code != 0;
}

}  // namespace

Word passed_word() { return {"PASSED", "✓", "passed"}; }
Word failed_word() { return {"FAILED", "✗", "failed"}; }
Word incomplete_word() { return {"INCOMPLETE", "–", "open"}; }

Word word_of(const RunSource& run) { return marked(run.verdict.word); }

Word word_of(const PairedSource& source) {
  if (!source.ended) return incomplete_word();
  if (disagrees(source)) return failed_word();
  const Word word = marked(paired_word(tally(source.cases)));
  return source.interrupted && word.word != "FAILED" ? incomplete_word() : word;
}

std::string not_right(const RunSource& run) {
  const std::string failures = failures_text(run.run, run.tally);
  if (failures.empty()) return {};
  std::int64_t all = 0;
  for (const auto& [status, count] : run.tally.by_status) {
    if (turns_red(status, run.run)) all += count;
  }
  return fmt::format("{} of {} results {} not right: {}", with_commas(all),
                     with_commas(run.tally.total), all == 1 ? "is" : "are", failures);
}

std::string run_sentence(const RunSource& run) {
  if (std::string text = not_right(run); !text.empty()) {
    if (missing(run) > 0) {
      text += fmt::format("; {} of {} trials have no result", with_commas(missing(run)),
                          with_commas(run.run.planned));
    }
    return text + quality_sentence(run);
  }
  if (!run.verdict.passed) return capitalized(run.verdict.why);
  return all_right(run) + quality_sentence(run);
}

std::string speed_sentence(const Content& content) {
  const Times times(content);
  const Means means = means_of(content, times);
  const auto found = means.find(all_suites);
  if (found == means.end()) return {};
  struct Speed {
    std::size_t column;
    double ratio;  // of its times to those of the baseline
  };
  std::vector<Speed> all{{content.base, 1}};
  for (std::size_t c = 0; c < found->second.size(); ++c) {
    if (c != content.base && found->second[c].count > 0) {
      all.push_back({c, found->second[c].value()});
    }
  }
  if (all.size() < 2) return {};
  const auto label = [&](const Speed& one) { return content.columns[one.column].label; };
  std::set<std::size_t> runs;
  for (const Speed& one : all) runs.insert(content.columns[one.column].run);
  if (all.size() == 2 || runs.size() < all.size()) {  // or devices within runs
    const Speed& farthest = *std::ranges::max_element(
        all, {}, [](const Speed& one) { return std::abs(std::log(one.ratio)); });
    if (std::abs(std::log(farthest.ratio)) < 0.005) {
      return fmt::format("{} is as fast as {}", label(all[1]), label(all[0]));
    }
    return fmt::format("{} is {} than {}", label(farthest), speed_words(farthest.ratio),
                       label(all[0]));
  }
  std::ranges::stable_sort(all, {}, &Speed::ratio);
  std::string text = fmt::format("{} is the fastest; ", label(all[0]));
  const std::size_t named = std::min(all.size() - 1, max_named_speeds);
  for (std::size_t i = 1; i <= named; ++i) {
    const Speed& one = i == named ? all.back() : all[i];
    text += fmt::format("{}{} is {}", i == 1 ? "" : ", ", label(one),
                        speed_words(one.ratio / all[0].ratio));
  }
  return text;
}

std::string paired_sentence(const PairedSource& source) {
  if (!source.ended || source.interrupted) return "The comparison did not end";
  if (source.cases.empty()) return "No case was compared";
  const std::string counts = tally_text(tally(source.cases));
  if (disagrees(source)) {
    return fmt::format("Rows and exit code {} disagree: {}", source.exit_code, counts);
  }
  if (is_undecided(tally(source.cases))) {
    return fmt::format("No case decided, {}: {}", counts, visible_changes_text(source.cases));
  }
  std::vector<const PairedCase*> slower;
  for (const PairedCase& one : source.cases) {
    if (one.verdict == PairedVerdict::regressed && one.ratio) slower.push_back(&one);
  }
  if (slower.empty()) {
    return word_of(source).word == "PASSED" ? "No regression: " + counts : capitalized(counts);
  }
  std::ranges::stable_sort(slower, std::ranges::greater(),
                           [](const PairedCase* one) { return *one->ratio; });
  const PairedCase& most = *slower.front();
  const std::string by = change_text(*most.ratio);
  return fmt::format("{} slower{} {} by {}", counted(std::ssize(slower), "case is", "cases are"),
                     slower.size() == 1 ? ":" : ", the most", most.case_id,
                     by.starts_with('+') ? by.substr(1) : by);
}

std::string history_sentence(const HistorySource& source) {
  const std::vector<FoundChange> changes = newest_changes(source.history);
  const std::string runs = counted(std::ssize(source.history.runs), "run");
  if (changes.empty()) return fmt::format("No change in {}", runs);
  std::string text = fmt::format("{} in {}: ", counted(std::ssize(changes), "change"), runs);
  for (std::size_t i = 0; i < std::min(changes.size(), max_named_changes); ++i) {
    const auto& [series, change] = changes[i];
    const std::vector<std::string> parts = split(series->key.case_id, '/');
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", parts.size() > 2 ? parts[1] : parts.front(),
                        change_text(change->ratio()));
  }
  return changes.size() > max_named_changes ? text + " …" : text;
}

}  // namespace assay::page
