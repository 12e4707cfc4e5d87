#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/ops/op.h"

namespace assay {

/// What may find a result wrong.
enum class Check {
  exact_rules,     // bit for bit the correctly rounded value, where that is the rule
  freivalds,       // all of a large exact product at once, where that is the rule
  bounds,          // each element within its bound, where that is the rule
  special_values,  // the pass over NaN, infinities, zeros and subnormal numbers

  effective_bits,      // the precision of all outputs together
  worst_element,       // the worst of many errors
  misrounded,          // the share of 16-bit outputs that are not correctly rounded
  placement,           // tensors and work are on the device that the row names
  guard_bands,         // nothing is written outside the outputs
  unchanged_inputs,    // nor to the inputs
  process_state,       // nor is anything changed for what the process does later
  agreement_of_ranks,  // all ranks have the same bits
  last_launch,         // the last launch, or the last timed one, leaves the verified bits
  soak,                // so does each of many
};

std::vector<std::string_view> check_names();
/// Throws UsageError with the valid names.
Check parse_check(std::string_view name);

/// The checks of a trial. All are on; to show what each of them is there for, `assay selftest`
/// switches one off, which nothing but simulated devices allows.
class Checks {
 public:
  Checks() = default;
  explicit Checks(std::optional<Check> off) : off_(off) {}
  bool on(Check check) const { return off_ != check; }
  /// Whether a pass with this rule counts.
  bool on(const Pass& pass) const {
    if (pass.has_specials() && !on(Check::special_values)) return false;
    if (pass.rule.oracle == Oracle::exact) return on(Check::exact_rules);
    return on(pass.rule.oracle == Oracle::freivalds ? Check::freivalds : Check::bounds);
  }

 private:
  std::optional<Check> off_;
};

}  // namespace assay
