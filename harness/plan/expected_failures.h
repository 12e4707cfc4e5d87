#pragma once

#include <concepts>
#include <cstddef>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/records/record.h"

namespace assay {

/// One known failure, a row of the list below.
struct ExpectedFailure {
  std::string test;
  std::string reason;
  std::string owner;
  std::string expires;
  std::string device;            // empty: any
  std::optional<Status> status;  // always there once it is read
  std::string implementation;    // empty: any
  std::size_t line = 0;

  bool concerns(const Record& record) const;
};

template <class F, class Visitor>
void visit_fields(F& failure,
                  Visitor&& visit) requires std::same_as<std::remove_const_t<F>, ExpectedFailure> {
  visit("case", failure.test);
  visit("reason", failure.reason);
  visit("owner", failure.owner);
  visit("expires", failure.expires);
  visit("device", failure.device);
  visit("status", failure.status);
  visit("implementation", failure.implementation);
}

/// A user's own list of known failures, each with an owner and an expiry date. CSV with the columns
/// case, reason, owner, expires (YYYY-MM-DD, its last valid day), and optionally device, status
/// (default `fail`) and implementation. `case` is a case id, or a shell pattern with `*` or `?`;
/// `implementation` is a pattern for that column of results.csv, as is `device`: "cuda:*".
class ExpectedFailures {
 public:
  ExpectedFailures() = default;
  /// `today` is YYYY-MM-DD, `backends` lists the existing kinds of devices. Throws
  /// UsageError("NAME:LINE:COLUMN: why"), also for an entry without an owner or an end.
  ExpectedFailures(std::istream& text, std::string_view name, std::string today,
                   std::span<const std::string> backends);

  /// Returns a note for each pattern that matches no case.
  std::vector<std::string> without_case(std::span<const std::string> case_ids) const;

  /// Reason why a failure is accepted, "REASON (OWNER, until DATE)". Empty if no entry matches its
  /// case, device, implementation and status, or the entry has expired.
  std::string accept(const Record& failure) const;

  /// Notes for the list's owner after the run: entries that no longer fail, and expired entries.
  /// `outcomes` is one record for each trial.
  std::vector<std::string> notes(const std::vector<Record>& outcomes) const;

 private:
  bool has_expired(const ExpectedFailure& entry) const { return entry.expires < today_; }

  std::string name_;
  std::string today_;
  std::vector<ExpectedFailure> entries_;
};

}  // namespace assay
