#pragma once

#include <span>
#include <string_view>

namespace assay {

/// Checks that may find a result wrong. Texts use the names of the enumerators.
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

  probable_bound,  // long sums keep the bound that random roundings keep almost surely
  /// Pass over NaN, infinities, zeros and subnormal numbers. A row names the rule of that pass.
  special_values,
  effective_bits,      // the precision of all outputs together
  worst_element,       // the worst of many errors
  misrounded,          // the share of 16-bit outputs that are not correctly rounded
  placement,           // tensors and work are on the device that the row names
  guard_bands,         // nothing is written outside the outputs
  unchanged_inputs,    // nothing is written to the inputs
  process_state,       // launches leave no changed state in the process
  agreement_of_ranks,  // all ranks have the same bits
  last_launch,  // the last launch leaves the verified bits, a timed one those of its repetition
  batch_invariance,  // rows keep their bits in smaller batches, where that is asked for
  soak,              // each of many launches leaves the verified bits
  late_writes,       // kernels of others write nothing after their stream has ended
  clock,             // the clock of their process tells of all the time that passes

  // Always on.
  placement_layer,     // intermediate expectations of a placement scenario hold
  declared_deviation,  // a deviation that a library declares is seen
  decoys,              // outputs without computing do not pass
  random_signs,        // all outputs of a timed product together, against random signs
  measured_band,       // ops of users keep the band that their reference was measured to have
  limit,               // no rate is far beyond the measured limit of its device
  supervision,         // the trial ends by itself, in time and without an error
};

std::span<const Check> all_checks();
/// The checks that can be switched off.
std::span<const Check> optional_checks();
std::string_view name(Check check);
inline std::span<const Check> enumerators(Check /*of*/) { return all_checks(); }

}  // namespace assay
