#include "reports/text/outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "kernels/core/names.h"
#include "reports/text/si.h"

namespace assay {
namespace {

template <class Key>
std::int64_t count_of(const std::map<Key, std::int64_t>& counts, Key key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

bool turns_red(Status status, const RunInfo& run) {
  if (status == Status::flaky && run.allow_flaky) return false;
  return class_of(status) == StatusClass::wrong || class_of(status) == StatusClass::broken;
}

Outcomes::Outcomes(std::span<const Record> records) {
  for (const Record& record : records) add(record);
}

void Outcomes::add_to_cell(const Record& record) {
  Cell& cell =
      cells_[fmt::format("{}/{}/{} on {}", record.suite, record.op, record.dtype, record.device)];
  if (record.status != Status::skip) {
    cell.has_run = true;
  } else if (cell.refusal.empty() && !(record.skip_category && is_limit(*record.skip_category))) {
    cell.refusal = record.reason.empty() ? "no reason given" : record.reason;
  }
}

void Outcomes::add(const Record& record) {
  if (record.attempt == 1) ++finished_;
  add_to_cell(record);
  const auto [entry, is_new] =
      index_.try_emplace({record.case_id, record.device, record.timing}, trials_.size());
  if (is_new) trials_.emplace_back();
  Trial& trial = trials_[entry->second];
  if (record.wall_s) trial.wall_s = trial.wall_s.value_or(0) + *record.wall_s;
  trial.fold.add(record);
}

Record Outcomes::outcome(const Trial& trial) {
  Record outcome = trial.fold.outcome();
  outcome.wall_s = trial.wall_s;
  return outcome;
}

std::vector<Record> Outcomes::trials() const {
  std::vector<Record> outcomes;
  outcomes.reserve(trials_.size());
  for (const Trial& trial : trials_) outcomes.push_back(outcome(trial));
  return outcomes;
}

Tally Outcomes::tally() const {
  Tally tally;
  for (const Trial& trial : trials_) {
    if (trial.fold.repeats() == 1) {
      tally.add(trial.fold.current());
    } else {
      tally.add(outcome(trial));
    }
  }
  tally.finished = finished_;
  for (const auto& [name, cell] : cells_) {
    if (!cell.has_run && !cell.refusal.empty()) tally.untested.emplace_back(name, cell.refusal);
  }
  return tally;
}

void Tally::add(const Record& outcome) {
  ++total;
  if (!outcome.expected_failure.empty()) {
    ++expected;
    return;
  }
  ++by_status[outcome.status];
  ++by_class[class_of(outcome.status)];
}

std::int64_t Tally::count(Status status) const { return count_of(by_status, status); }

std::int64_t Tally::count(StatusClass of_class) const { return count_of(by_class, of_class); }

std::string Tally::text() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const auto& [status, count] : by_status) add(fmt::format("{} {}", count, name(status)));
  if (expected > 0) {
    add(fmt::format("{} expected {}", expected, expected == 1 ? "failure" : "failures"));
  }
  return text.empty() ? "no results" : text;
}

namespace {

/// Why trials have no result: "budget 5 s", in parentheses. Empty if it is not known.
std::string why_not_run(const RunInfo& run) {
  if (run.ended_at.empty()) return " (the run goes on, or was killed)";
  if (run.interrupted) return " (interrupted)";
  for (std::size_t i = 0; i < run.command_line.size(); ++i) {
    const std::string& word = run.command_line[i];
    if (word == "--budget" && i + 1 < run.command_line.size()) {
      return fmt::format(" (budget {} s)", run.command_line[i + 1]);
    }
    if (word.starts_with("--budget=")) return fmt::format(" (budget {} s)", word.substr(9));
    if (word == "--fail-fast") return " (--fail-fast)";
  }
  return "";
}

/// The rest of the sentence: right, accepted, skipped and missing trials.
std::string others(const RunInfo& run, const Tally& tally, std::int64_t missing) {
  std::vector<std::string> texts;
  const auto add = [&](std::int64_t count, const std::string& word) {
    if (count > 0) texts.push_back(fmt::format("{} {}", with_commas(count), word));
  };
  add(tally.count(StatusClass::right), "right");
  if (run.allow_flaky) add(tally.count(Status::flaky), "flaky and accepted");
  add(tally.expected, tally.expected == 1 ? "expected failure" : "expected failures");
  add(tally.count(StatusClass::skipped), "skipped");
  if (missing > 0) {
    add(missing, fmt::format("of {} not run{}", with_commas(run.planned), why_not_run(run)));
  }
  return join(texts, ", ");
}

}  // namespace

std::string failures_text(const RunInfo& run, const Tally& tally) {
  constexpr std::array<std::pair<Status, std::string_view>, 8> words{
      {{Status::fail, "wrong"},
       {Status::vacuous, "vacuous"},
       {Status::flaky, "flaky"},
       {Status::crash, "crashed"},
       {Status::timeout, "timed out"},
       {Status::oom, "ran out of memory"},
       {Status::device_lost, "lost the device"},
       {Status::error, "ended in an error"}}};
  std::vector<std::string> texts;
  for (const auto& [status, word] : words) {
    const std::int64_t count = turns_red(status, run) ? tally.count(status) : 0;
    if (count > 0) texts.push_back(fmt::format("{} {}", with_commas(count), word));
  }
  return join(texts, ", ");
}

RunVerdict run_verdict(const RunInfo& run, const Tally& tally) {
  const std::int64_t missing = std::max<std::int64_t>(0, run.planned - tally.finished);
  const std::string rest = others(run, tally, missing);
  if (const std::string failed = failures_text(run, tally); !failed.empty()) {
    return {"FAILED", failed + (rest.empty() ? "" : "; " + rest), false, true};
  }
  if (run.ended_at.empty() || run.interrupted || missing > 0) {
    return {"INCOMPLETE", rest.empty() || missing == 0 ? rest + why_not_run(run) : rest};
  }
  if (tally.count(StatusClass::skipped) == tally.total) {
    return {"INCOMPLETE",
            tally.total == 0 ? "nothing ran" : "nothing ran, every trial was skipped"};
  }
  const auto& untested = tally.untested;
  if (run.exit_code != 0 && !untested.empty()) {
    return {"INCOMPLETE",
            fmt::format("nothing ran of {}{}: {}", untested.front().first,
                        untested.size() > 1 ? fmt::format(" and {} more", untested.size() - 1)
                                            : std::string(),
                        untested.front().second)};
  }
  if (run.exit_code != 0) {
    return {"FAILED", fmt::format("{}, but the run ended with exit code {}", rest, run.exit_code)};
  }
  return {"PASSED", rest, true};
}

}  // namespace assay
