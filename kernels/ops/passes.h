#pragma once

#include "kernels/ops/op.h"

// The test data and rules that ops share, by name: what the rows of op_table.cpp are made of.
namespace assay {

/// IEEE operations, casts and integers: bit for bit, on every exponent and on plain data.
Passes bit_for_bit();
/// The same of what has no values outside of a domain: on every exponent, and timed on `plain`.
Passes bit_for_bit_within(const Data& plain);
/// What moves elements as they are, NaN payloads too.
Passes moves();
/// As bit_for_bit, for operations that may return either zero for -0 and +0 (relu).
Passes bit_for_bit_any_zero();
/// Comparisons, minimum and maximum: inputs that are often equal, or special.
Passes order_of_two(bool any_zero);
/// y = mask ? a : b
Passes choice_of_two();
/// Casts to the dtype that the parameter `to` names.
Passes cast_passes();

/// A function of declared error B ulp + C roundings of its argument: on `domain`, which holds its
/// tails, and on plain data.
struct Declared {
  double ulps = 0;            // B
  double argument_units = 0;  // C
};
Passes function(const Declared& error, const Data& domain, const Data& plain);
/// A function of two arguments.
Passes function_of_two(const Declared& error, const Data& domain_a, const Data& domain_b,
                       const Data& plain_a, const Data& plain_b);

/// Sums and dot products: on exact data only the final rounding is left; on real data the theorem.
Passes sums();
/// Sums of all elements up to each.
Passes running_sums();
/// Sums of which many make an output, with nothing behind them: their precision shows.
Passes plain_sums();
/// A sum and then one rounded operation on it; on real data judged by `real_rule`.
Passes sum_then_operation(const Rule& real_rule);
Passes products();
/// Orders: small numbers with many ties, then real data.
Passes order();
/// Extremes: also of NaN and infinities, whose place in an order is not defined.
Passes extremes();
Passes softmax_passes();
Passes layernorm_passes();
Passes linear_passes(DType dtype, const Params& params);
Passes stack_passes(DType dtype, const Params& params);
Passes allreduce_passes(DType dtype, const Params& params);
/// Rows of input 0 chosen by the indices of input 1.
Passes gather_passes();
/// Launches that differ only in what lies around.
Passes no_inputs();
/// Copies, whose patterns never repeat.
Passes copies();

/// Every finite value of the dtype; stratified.
Data any_exponent();
Data stratified(Range range, Range range_f64);
Data uniform(Range range);

}  // namespace assay
