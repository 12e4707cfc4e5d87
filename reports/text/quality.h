#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "harness/records/record.h"

namespace assay {

/// How far the times of a run may be trusted: counts of its timed trials.
struct Quality {
  std::int64_t timed = 0;
  std::int64_t contended = 0;
  std::int64_t throttled = 0;
  std::int64_t beyond_limit = 0;
  std::int64_t too_few = 0;
  std::int64_t doubtful = 0;  // any of these

  void add(const Record& trial);
  bool is_clean() const { return doubtful == 0; }
  /// Returns whether most times are of a busy machine: a table then says so once.
  bool is_mostly_contended() const { return 2 * contended > timed; }
  /// "24 of 47 were taken on a busy machine; the others say quiet."; empty unless most were.
  std::string busy_sentence() const;
  /// "9 beyond their limit, 2 throttled": what was found beside contended times.
  std::string rest() const;
};

Quality quality_of(std::span<const Record> trials);

/// Remarks on one time, for a table that has said whether most are contended: "contended",
/// "quiet, throttled".
std::string remarks(const Record& trial, bool mostly_contended);

}  // namespace assay
