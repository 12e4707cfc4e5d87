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

std::vector<Record> outcomes(std::span<const Record> records) {
  using Key = std::tuple<std::string, std::string, std::string, std::int64_t>;
  std::map<Key, std::size_t> index;
  std::vector<Record> last;
  for (const Record& record : records) {
    const auto [place, is_new] = index.try_emplace(
        Key{record.case_id, record.device, record.timing, record.repeat}, last.size());
    if (is_new) {
      last.push_back(record);
      continue;
    }
    Record& outcome = last[place->second];
    if (record.attempt < outcome.attempt) continue;
    const StatusClass before = class_of(outcome.status);
    const bool recovered = record.status == Status::pass &&
                           (before == StatusClass::wrong || before == StatusClass::broken);
    const std::string reason =
        fmt::format("attempt {}: {}: {}", outcome.attempt, name(outcome.status), outcome.reason);
    outcome = record;
    if (!recovered) continue;
    outcome.status = Status::flaky;
    if (outcome.reason.empty()) outcome.reason = reason;
  }
  return last;
}

StatusClass class_of(Status status) {
  switch (status) {
    case Status::pass:
      return StatusClass::right;
    case Status::fail:
    case Status::flaky:
    case Status::vacuous:
      return StatusClass::wrong;
    case Status::skip:
      return StatusClass::skipped;
    case Status::timeout:
    case Status::crash:
    case Status::oom:
    case Status::device_lost:
    case Status::error:
      break;
  }
  return StatusClass::broken;
}

void Tally::add(Status status) {
  ++by_status[status];
  ++by_class[class_of(status)];
  ++total;
}

std::int64_t Tally::count(Status status) const { return count_of(by_status, status); }

std::int64_t Tally::count(StatusClass of_class) const { return count_of(by_class, of_class); }

std::string Tally::text() const {
  std::string text;
  for (const auto& [status, count] : by_status) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name(status));
  }
  return text.empty() ? "no results" : text;
}

Tally tally(std::span<const Record> outcomes) {
  Tally tally;
  for (const Record& outcome : outcomes) tally.add(outcome.status);
  return tally;
}

RunVerdict run_verdict(const RunInfo& run, const Tally& tally) {
  const std::int64_t flaky = tally.count(Status::flaky);
  // With exit code 0 the run was told to accept results that a retry put right.
  const std::int64_t wrong = tally.count(StatusClass::wrong) - (run.exit_code == 0 ? flaky : 0);
  const std::int64_t broken = tally.count(StatusClass::broken);
  const std::int64_t missing = run.planned - tally.total;
  const std::string also = missing > 0
                               ? fmt::format("; {} of {} without a result",
                                             counted(missing, "trial", "trials"), run.planned)
                               : "";
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
  if (run.interrupted || missing > 0) {
    return {
        "INCOMPLETE",
        fmt::format("{}{} of {} without a result", run.interrupted ? "interrupted, with " : "",
                    counted(std::max<std::int64_t>(missing, 0), "trial", "trials"), run.planned)};
  }
  if (tally.count(StatusClass::skipped) == tally.total) {
    return {"EMPTY", tally.total == 0 ? "nothing ran" : "nothing ran, every trial was skipped"};
  }
  if (run.exit_code != 0) {
    return {"NOT PASSED", fmt::format("every result is right, but the run ended with exit code {}",
                                      run.exit_code)};
  }
  std::string why =
      fmt::format("{} right", counted(tally.count(StatusClass::right), "result", "results"));
  if (flaky > 0) why += fmt::format(", {} flaky and accepted", flaky);
  if (tally.count(StatusClass::skipped) > 0) {
    why += fmt::format(", {} skipped", tally.count(StatusClass::skipped));
  }
  return {"PASSED", why, true};
}

}  // namespace assay
