#pragma once

#include <span>
#include <string_view>

namespace assay {

/// What may find a result wrong. The names in text are those of the enumerators.
enum class Check {
  // The rule of a pass, named as its oracle (kernels/ops/rules.h).
  exact,
  freivalds,
  sum_bound,
  function_bound,
  relative_bound,
  running_bound,
  softmax_bound,
  layernorm_bound,

  /// The pass over NaN, infinities, zeros and subnormal numbers. A row names the rule of that pass.
  special_values,
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

  // Always on.
  placement_layer,     // what a scenario of the suite `placement` expects along the way
  declared_deviation,  // a deviation that a library declares is seen
  decoys,              // what takes no computing does not pass too
  supervision,         // the trial ends by itself, in time and without an error
};

std::span<const Check> all_checks();
/// The checks that can be switched off.
std::span<const Check> optional_checks();
std::string_view name(Check check);
inline std::span<const Check> enumerators(Check /*of*/) { return all_checks(); }

}  // namespace assay
