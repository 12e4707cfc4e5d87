#pragma once

#include <cstdint>

#include "kernels/ops/op.h"

// Test data and rules that families share, by name. Those of one family are in its file.
namespace assay {

// Data.
inline constexpr Data real_data{.distribution = Distribution::uniform, .range = {-1, 1}};
/// Small integers whose sums are exact in any order.
inline constexpr Data exact_data{.distribution = Distribution::integers};
/// Every finite value of the dtype; stratified.
Data any_exponent();
Data stratified(Range range, Range range_f64);
Data uniform(Range range);

// Rules.
inline constexpr Rule exact_rule{.oracle = Oracle::exact};
/// NaN payloads too.
inline constexpr Rule moved_rule{.oracle = Oracle::exact, .payloads = true};
inline constexpr Rule any_zero_rule{.oracle = Oracle::exact, .any_zero = true};
inline constexpr Rule sum_rule{.oracle = Oracle::sum_bound};
inline constexpr Rule plain_sum_rule{.oracle = Oracle::sum_bound, .plain_sums = true};

/// The error that a library declares of a function: B ulp + C roundings of its argument.
struct Declared {
  double ulps = 0;            // B
  double argument_units = 0;  // C
};
Rule function_rule(const Declared& error);

// Passes.
/// On every exponent and on plain data, by one rule.
Passes judged_on(const Data& every_exponent, const Data& plain, const Rule& rule);
/// IEEE operations, casts and integers: bit for bit.
Passes bit_for_bit();
/// For ops that move elements as they are, NaN payloads too.
Passes moves();
/// Comparisons, minimum and maximum: inputs that are often equal, or special.
Passes order_of_two(bool any_zero);
/// Orders: small numbers with many ties, then real data.
Passes order();
/// A function of declared error: on `domain`, which holds its tails, and on plain data.
Passes function(const Declared& error, const Data& domain, const Data& plain);

/// On exact data only the final rounding is left; on real data `real_rule` applies.
Passes finite_sums(const Rule& real_rule);
/// Sums and dot products; special values too.
Passes sums();
/// Sums of which many make an output, with nothing behind them: their precision shows.
Passes plain_sums();
/// A sum and then one rounded operation on it; on real data judged by `real_rule`.
Passes sum_then_operation(const Rule& real_rule);
/// Products of factors that make every partial product exact, then of factors around 1.
Passes finite_products();

/// Adds a pass before the last one that judges, by the rule of the real data, what NaN, infinities,
/// zeros and subnormal numbers lead to. `run`: elements that share a fate, 0 for a row.
Passes with_specials(Passes passes, Specials specials, std::int64_t run = 0);
/// For ops without inputs: launches that differ only in what lies around.
Passes no_inputs();

}  // namespace assay
