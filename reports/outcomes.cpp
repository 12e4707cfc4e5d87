#include "reports/outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace assay {
namespace {

std::string counted(std::int64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

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
  const auto [place, is_new] =
      index_.try_emplace({record.case_id, record.device, record.timing}, trials_.size());
  if (is_new) trials_.emplace_back();
  Trial& trial = trials_[place->second];
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
  if (expected > 0) add(counted(expected, "expected failure", "expected failures"));
  return text.empty() ? "no results" : text;
}

RunVerdict run_verdict(const RunInfo& run, const Tally& tally) {
  const std::int64_t flaky = tally.count(Status::flaky);
  std::int64_t wrong = 0;
  std::int64_t broken = 0;
  for (const auto& [status, count] : tally.by_status) {
    if (!turns_red(status, run)) continue;
    (class_of(status) == StatusClass::wrong ? wrong : broken) += count;
  }
  const std::int64_t missing = run.planned - tally.finished;
  const std::string also = missing > 0
                               ? fmt::format("; {} of {} without a result",
                                             counted(missing, "trial", "trials"), run.planned)
                               : "";
  if (wrong > 0 && broken > 0) {
    return {
        "FAILED",
        fmt::format("{} of {} not right: {} wrong, {} broken{}",
                    counted(wrong + broken, "result", "results"), tally.total, wrong, broken, also),
        false, true};
  }
  if (wrong > 0) {
    return {"FAILED",
            fmt::format("{} of {} wrong{}", counted(wrong, "result", "results"), tally.total, also),
            false, true};
  }
  if (broken > 0) {
    return {"BROKEN",
            fmt::format("{} of {} could not be obtained{}", counted(broken, "result", "results"),
                        tally.total, also),
            false, true};
  }
  if (run.ended_at.empty()) {
    return {"INCOMPLETE", fmt::format("the run had not ended when this was written: it goes on, or "
                                      "was killed; {} of {} trials have results",
                                      tally.finished, run.planned)};
  }
  if (run.interrupted || missing > 0) {
    return {
        "INCOMPLETE",
        fmt::format("{}{} of {} without a result", run.interrupted ? "interrupted, with " : "",
                    counted(std::max<std::int64_t>(missing, 0), "trial", "trials"), run.planned)};
  }
  if (tally.count(StatusClass::skipped) == tally.total) {
    return {"EMPTY", tally.total == 0 ? "nothing ran" : "nothing ran, every trial was skipped"};
  }
  const auto& untested = tally.untested;
  if (run.exit_code != 0 && !untested.empty()) {
    return {"UNTESTED",
            fmt::format("nothing ran of {}{}: {}", untested.front().first,
                        untested.size() > 1 ? fmt::format(" and {} more", untested.size() - 1)
                                            : std::string(),
                        untested.front().second)};
  }
  if (run.exit_code != 0) {
    return {"NOT PASSED", fmt::format("every result is right, but the run ended with exit code {}",
                                      run.exit_code)};
  }
  std::string why =
      fmt::format("{} right", counted(tally.count(StatusClass::right), "result", "results"));
  if (flaky > 0) why += fmt::format(", {} flaky and accepted", flaky);
  if (tally.expected > 0) {
    why += ", " + counted(tally.expected, "expected failure", "expected failures");
  }
  if (tally.count(StatusClass::skipped) > 0) {
    why += fmt::format(", {} skipped", tally.count(StatusClass::skipped));
  }
  return {"PASSED", why, true};
}

}  // namespace assay
