#pragma once

#include <optional>
#include <string_view>

#include "harness/records/check.h"
#include "kernels/ops/op.h"

namespace assay {

/// A check that can be switched off. Throws UsageError with the valid names.
Check parse_check(std::string_view name);

/// Check of a rule; always `exact` where the output's arithmetic is exact.
Check check_of(Oracle oracle, bool is_exact);

/// Checks of a trial. All are on. `assay selftest` switches one off to show what it catches; only
/// simulated devices allow that.
class Checks {
 public:
  Checks() = default;
  explicit Checks(std::optional<Check> off) : off_(off) {}
  std::optional<Check> off() const { return off_; }
  bool on(Check check) const { return off_ != check; }
  /// True if a pass that `rule` judges counts.
  bool on(const Pass& pass, Check rule) const {
    return on(rule) && (on(Check::special_values) || !pass.has_specials());
  }
  bool operator==(const Checks&) const = default;

 private:
  std::optional<Check> off_;
};

}  // namespace assay
