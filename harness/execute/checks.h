#pragma once

#include <optional>
#include <string_view>

#include "harness/records/check.h"
#include "kernels/ops/op.h"

namespace assay {

/// A check that can be switched off. Throws UsageError with the valid names.
Check parse_check(std::string_view name);

/// The check of a rule; `exact` whatever the bound where the output's arithmetic is.
Check check_of(Oracle oracle, bool is_exact);

/// The checks of a trial. All are on; to show what each of them is there for, `assay selftest`
/// switches one off, which nothing but simulated devices allows.
class Checks {
 public:
  Checks() = default;
  explicit Checks(std::optional<Check> off) : off_(off) {}
  bool on(Check check) const { return off_ != check; }
  /// Whether a pass that `rule` judges counts.
  bool on(const Pass& pass, Check rule) const {
    return on(rule) && (on(Check::special_values) || !pass.has_specials());
  }

 private:
  std::optional<Check> off_;
};

}  // namespace assay
