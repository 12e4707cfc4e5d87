#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "harness/records/record.h"

namespace assay {

/// Returns the urgency of an outcome: 0 for a pass, then skips, failures that were accepted as
/// known ones, flaky, broken and wrong results. Above `worst_good` it does not count as green.
int severity(Status status, bool accepted);
int severity(const Record& record);
inline constexpr int worst_good = 2;

/// Outcome of the rows of one trial, added attempt by attempt and repeat by repeat. Of several
/// attempts the last counts (a pass after a bad one is `flaky`, whatever its row says), of several
/// repeats the worst. A `Row` has `status`, `reason`, `attempt` and `repeat`, and a `severity`.
template <class Row>
class TrialFold {
 public:
  void add(Row row) {
    if (repeats_ > 0 && row.repeat == current_.repeat) {
      if (row.attempt < current_.attempt) return;
      const bool is_right = row.status == Status::pass || row.status == Status::flaky;
      if (is_bad(current_) && is_right) make_flaky(row);
    } else if (repeats_++ > 0) {
      bad_repeats_ += is_bad(current_) ? 1 : 0;
      if (repeats_ == 2 || severity(current_) >= severity(worst_)) worst_ = std::move(current_);
    }
    current_ = std::move(row);
  }

  std::int64_t repeats() const { return repeats_; }
  /// Returns the outcome of the last repeat.
  const Row& current() const { return current_; }

  Row outcome() const {
    if (repeats_ == 1) return current_;
    Row row = severity(worst_) > severity(current_) ? worst_ : current_;
    const std::int64_t bad = bad_repeats_ + (is_bad(current_) ? 1 : 0);
    if (bad > 0) row.reason = fmt::format("in {} of {} repeats: {}", bad, repeats_, row.reason);
    return row;
  }

 private:
  static bool is_bad(const Row& row) { return severity(row) > worst_good; }

  void make_flaky(Row& row) const {
    row.status = Status::flaky;
    row.reason =
        fmt::format("attempt {}: {}: {}", current_.attempt, name(current_.status), current_.reason);
    if constexpr (requires { row.caught_by; }) {
      row.caught_by = current_.caught_by;
      row.caught_on = current_.caught_on;
    }
  }

  Row current_;
  Row worst_;  // the worst of the repeats before it
  std::int64_t repeats_ = 0;
  std::int64_t bad_repeats_ = 0;  // before the current one
};

}  // namespace assay
