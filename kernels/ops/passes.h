#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/ops/op.h"

// Test data and rules that several families share. Data of a single family are in its file.
namespace assay {

// Data.
inline constexpr Data real_data{.distribution = Distribution::uniform, .range = {-1, 1}};
/// The same, times a power of two that the launch draws, as exact data are.
inline constexpr Data scaled_real_data{
    .distribution = Distribution::uniform, .range = {-1, 1}, .drawn_scale = true};
/// Small integers, times powers of two, whose sums are exact in any order.
inline constexpr Data exact_data{.distribution = Distribution::integers};
/// Covers every finite value of the dtype; stratified.
Data any_exponent();
Data stratified(Range range, Range range_f64);
Data uniform(Range range);
/// A scalar of some bits: of floats a NaN, twice, as it may be a quiet one.
std::array<Data, 2> nan_of_any_bits();
/// Whole numbers of `low` to `high`, of both signs in turns, where the positive ones are larger by
/// `shift`.
Data of_both_signs(double low, double high, std::int64_t turn, double shift = 0);

// Real data of long sums must sum to much more than the bound of the sum, lambda sqrt n u sum |x|,
// or any small number would do, and must round without bias (harness/oracle/probable_bound.cpp).

/// Uniform in [-0.5, 1.5), times a power of two with which sums of `terms` products of `factors`
/// such numbers stay finite in f16.
Data of_mean_one_half(DType dtype, std::int64_t terms, int factors = 1);
/// Terms of sums that f16 holds, or just not, of which parts are beyond it.
Pass partly_beyond_f16(std::int64_t terms);
/// Replaces the real data, and those between special values. `unbiased_terms` as in Rule.
Passes with_real_data(Passes passes, const Data& data, double unbiased_terms);
/// Rule::unbiased_terms of sums of data of mean one half, and of their products. Largest ratios
/// that were measured in any order: docs/oracles.md.
inline constexpr double unbiased_sums = 4;
inline constexpr double unbiased_dots = 1;
/// The same of squares of `roots`. Numbers of 8 bits have so few that their roundings have a bias,
/// which grows with the terms.
double unbiased_squares(DType dtype);

/// Rule for data whose sums round without bias at any length: each value is as likely as its
/// negative.
Rule for_symmetric_data(Rule rule);

// Rules.
inline constexpr Rule exact_rule{.oracle = Oracle::exact};
/// Compares NaN payloads as well.
inline constexpr Rule moved_rule{.oracle = Oracle::exact, .payloads = true};
inline constexpr Rule any_zero_rule{.oracle = Oracle::exact, .any_zero = true};
inline constexpr Rule sum_rule{.oracle = Oracle::sum_bound};
inline constexpr Rule plain_sum_rule{.oracle = Oracle::sum_bound, .plain_sums = true};

/// Declared error of a library function: B ulp + C roundings of its argument.
struct Declared {
  double ulps = 0;            // B
  double argument_units = 0;  // C
};
Rule function_rule(const Declared& error);

// Passes.
/// The last one has the data that are timed.
void insert_before_last(Passes& passes, Pass pass);
/// Judges all exponents and plain data by one rule.
Passes judged_on(const Data& every_exponent, const Data& plain, const Rule& rule);
/// IEEE operations, casts and integers: bit for bit.
Passes bit_for_bit();
/// For ops that move elements unchanged, with NaN payloads.
Passes moves();
/// Comparisons, minimum and maximum, on inputs that are often equal or special.
Passes order_of_two(bool any_zero);
/// Order of one tensor: small numbers with many ties, then real data.
Passes order();
/// Function of declared error: on `domain`, which includes its tails, on plain data, and next to
/// `points`: its zeros, poles, and places where implementations change their formula.
Passes function(const Declared& error, const Data& domain, const Data& plain,
                std::span<const double> points = {});

/// Inserts passes before the last one, in which each element of the one input decides something: of
/// both signs in turns, of these magnitudes.
Passes with_signs_in_turns(Passes passes, Range magnitudes);
/// Likewise for ops that choose between two inputs, or compare them.
Passes with_choices_in_turns(Passes passes);
/// Extremes at each border of the lines of `x` in turn, at drawn places alone and twice, then an
/// extreme that is everywhere the last one of all numbers. `greatest`: of a maximum. `is_unsigned`:
/// the dtype has no negative numbers.
Passes with_extremes_in_turns(Passes passes, const TensorSpec& x, bool greatest, bool is_unsigned);
/// A number far above all others of its row, at each border of some row: a maximum that overlooks
/// it lets exponentials overflow, and a mean is far from most.
Passes with_outliers(Passes passes, const TensorSpec& x);
/// Two infinities at drawn places of each line, which no other number is beyond.
Passes with_infinities_in_turns(Passes passes, const TensorSpec& x, bool greatest);
/// A single NaN in each line: first, between, and last; then two at drawn places.
Passes with_nan_in_turns(Passes passes, const TensorSpec& x);
/// Numbers of each line that are next to each other in the dtype, at its ends, at zero and
/// elsewhere (harness/input/near_ties.h).
Passes with_near_ties_in_turns(Passes passes, const TensorSpec& x);
/// Numbers that differ in one byte of their words: in each once.
Passes with_each_digit(Passes passes, DType dtype);
/// Floats of all exponents in each line, whose largest lies at every size
/// (harness/input/scattered.h).
Passes with_all_sizes_in_turns(Passes passes, const TensorSpec& x, const Rule& rule);
/// Likewise of one factor, whose lines are summed, and of the other one `other`.
Passes with_all_sizes_of_one(Passes passes, const TensorSpec& x, const Rule& rule,
                             const Data& other, std::size_t factor);
double greatest_number(DType dtype);
/// The greatest number everywhere: what two of them make is infinite in any order.
Passes with_overflow(Passes passes, DType dtype);
/// Extremes at each rank in turn.
Passes with_ranks_in_turns(Passes passes, std::int64_t ranks, bool greatest, bool is_unsigned);

/// Leaves only the final rounding on exact data. On real data `real_rule` applies.
Passes finite_sums(const Rule& real_rule);
/// Sums and dot products, with special values.
Passes sums();
/// Many sums that make an output with no operation after them: their precision shows.
Passes plain_sums();
/// A sum and one rounded operation on it. Real data are judged by `real_rule`.
Passes sum_then_operation(const Rule& real_rule, Specials specials = Specials::nonfinite);
/// Products whose factors make every partial product exact, then of factors around 1.
Passes finite_products();

/// Inserts a pass before the last one. It judges, by the rule of the real data, the effects of NaN,
/// infinities, zeros and subnormal numbers. `run`: number of elements that share a fate, 0 for a
/// row.
Passes with_specials(Passes passes, Specials specials, std::int64_t run = 0);
/// Repeats the special values of a tensor that is one row: each pass has one kind, and together
/// they have all. Only those of a seed if it has many elements.
Passes with_specials_in_turns(Passes passes, const TensorSpec& x);
/// Inserts a pass behind the first one, on numbers that need all three bf16 parts.
Passes with_bf16_parts(Passes passes);
/// Adds a pass in which all but one term of a sum are zero. It shows the precision of that term,
/// which a bound of a long sum hides.
Passes with_lone_terms(Passes passes, const Rule& rule, std::optional<Data> bias = {});
/// Adds passes in which the terms at every second border are all that there is, first the ones and
/// then the others: an output of few bits shows each of so few terms. `other`: of a second factor.
Passes with_few_terms_in_turns(Passes passes, const TensorSpec& x, Rule rule,
                               std::optional<Data> other = {});
/// Adds a pass of equal terms, of sums too long for one accumulator of f32: the same rounding error
/// each time takes digits away that random data leave.
Passes with_equal_terms(Passes passes, DType dtype, std::int64_t terms, int factors, Rule rule);
/// Rule of a lone product, by arithmetic that may truncate.
inline constexpr Rule one_product_rule{.oracle = Oracle::sum_bound, .roundings = 1};
/// For ops without inputs: launches that differ only in the surrounding memory.
Passes no_inputs();

}  // namespace assay
