#pragma once

#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/record.h"

namespace assay {

/// A user's own list of known failures, each with who answers for it and until when. CSV with the
/// columns case, reason, owner, expires (YYYY-MM-DD, the last day on which it holds), and if wanted
/// device and status (default `fail`). `case` is a case id, or a shell pattern with `*` or `?`.
class ExpectedFailures {
 public:
  ExpectedFailures() = default;
  /// `today` is YYYY-MM-DD, `backends` the kinds of devices that there are. Throws
  /// UsageError("NAME:LINE:COLUMN: why"): a known failure without an owner or an end is none.
  ExpectedFailures(std::istream& text, std::string_view name, std::string today,
                   std::span<const std::string> backends);

  /// A note for each pattern that matches none of the cases.
  std::vector<std::string> without_case(std::span<const std::string> case_ids) const;

  /// Why a failure is accepted, "REASON (OWNER, until DATE)"; empty when it is not: it is of
  /// another case, device or status, or the entry has expired.
  std::string accept(const Record& failure) const;

  /// What the list's owner should know of it once the run has ended: entries that no longer fail,
  /// and those that have expired. `outcomes` is one record for each trial.
  std::vector<std::string> notes(const std::vector<Record>& outcomes) const;

 private:
  struct Entry {
    std::size_t line;
    std::string test;
    std::string device;  // empty: any
    Status status;
    std::string reason;
    std::string owner;
    std::string expires;

    bool concerns(const Record& record) const;
  };
  bool has_expired(const Entry& entry) const { return entry.expires < today_; }

  std::string name_;
  std::string today_;
  std::vector<Entry> entries_;
};

}  // namespace assay
