#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/ops/arithmetic.h"

// Test plan of an op as plain data: the source of its inputs, and the rule that judges its outputs.
// The harness interprets both.
namespace assay {

/// Oracles that can judge an output. Their formulas are in harness/oracle, one file each. u is the
/// unit roundoff of the op's accumulator, u_out the output's. S is the scale of an element, which
/// the reference computes.
enum class Oracle {
  exact,           // bit for bit the correctly rounded value
  freivalds,       // a whole exact product at once, against random weights
  sum_bound,       // |e| <= (L + extra) u S + u_out |y|: sums and dot products of S = sum |a_i b_i|
  function_bound,  // |e| <= B ulp(y) + C u S + the rounding to the output; S = |x|
  relative_bound,  // |e| <= (R L + extra) u |y| + u_out |y|: products, norms
  running_bound,   // |e| <= u S + u_out |y|: S from an error analysis along the computation. Of
                   // exponentials (B > 0) more (harness/oracle/running_bound.cpp)
  softmax_bound,
  layernorm_bound,
  measured_band,  // |e| <= 8 S + ulp_out / 2: S from runs of the reference in noisy arithmetic
};

/// Operation after the sums of `plain_sums`.
enum class Activation {
  none,
  relu,  // half of the sums show
  gelu   // likewise, of sums so large that it is nearly a relu
};

struct Rule {
  Oracle oracle = Oracle::exact;
  double ulps = 0;            // B: the declared error of the function that the op evaluates
  double argument_units = 0;  // C: in unit roundoffs of the argument
  double per_term = 1;        // R: roundings that each term adds to a relative error
  double extra = 0;           // further roundings, beside those of the terms
  double roundings = 0;       // L on data that leave fewer than the op's terms do; 0: theirs
  /// Longest sum of these data, in multiples of 2^p terms (p: significand bits of the accumulator),
  /// whose roundings have no bias in any order. Up to there the probabilistic bound judges as well
  /// (harness/oracle/probable_bound.cpp). 0: unknown, only the proved bound judges.
  double unbiased_terms = 0;
  bool any_zero = false;       // `exact` only: +0 and -0 are both right
  bool payloads = false;       // `exact` only: a NaN is right only with its own bits
  bool any_nonfinite = false;  // NaN and infinities are right for each other
  Activation activation = Activation::none;
  /// True if nothing but `activation` follows the sums. Then the errors of many outputs together
  /// show the precision of the sums (harness/oracle/effective_bits.cpp), and exact sums can be
  /// checked as a whole.
  bool plain_sums = false;
  Arithmetic allowed = Arithmetic::f32;  // `measured_band` only: what a kernel may compute in

  /// L on these data, of an op whose longest sum has so many.
  double longest_chain(double of_op) const { return roundings > 0 ? roundings : of_op; }
};

/// Distribution of the elements of the inputs.
enum class Distribution {
  uniform,         // in [low, high); integers: any
  normal,          // of mean `low` and standard deviation `high`
  stratified,      // random sign, exponent and significand, within [low, high], and special values;
                   // of 16-bit floats each of the 65,536 values, of 8-bit floats the 256; of
                   // integers all sizes
  few,             // special values and small numbers, so few that equal ones meet
  any_bits,        // all numbers, infinities and NaNs, those that signal too
  small_integers,  // uniform in [low, high], both included, in any dtype
  divisors,        // integers of all sizes, but 0 and -1
  castable,        // as `stratified`, within the range of the cast's target and next to its ties
  integers,        // times powers of two; every sum of the op is exact (harness/input/exact_data.h)
  whole_powers,    // as `integers`, but powers of two: a quotient of two is exact as well
  factors,         // +-1 and +-2^+-1, so few of the latter that every partial product is exact
  near_one,  // in 1 +- 1/sqrt(terms), so that products neither vanish nor overflow; integers: odd
  halves,    // each of the 65,536 numbers of f16, or as many of them as there are elements: tables
             // and approximations break at short numbers
  around,    // next to one of `points`: a power of two of its size away, or less
  far_rows,  // one of `points` in turn, a row each, plus a number in [low, high)
  growing,   // +-1, and about 1024 factors spread over them whose product is about e^8; integers:
             // about two are even
  roots,     // of random sign, with squares uniform in [0, 1); integers: any
  blocks,    // finite numbers; those of 32 that follow each other share a range of exponents
  indices,   // row numbers of the op's first input, any
  border_indices,  // likewise, but the first ones are those at borders
  bf16_parts,  // f32 that needs three bf16 parts; in input 0 all but one element of a row are zero
  lone,        // in [low, high); in input 0 of each `run` elements of a row all but one are zero
  identity,  // of a matrix: 1 where the column is the row's number, further rows begin again; else
             // zero
  unique_words,  // 64-bit words that never repeat within a tensor
  // Data in which each element decides something, in one of some launches that take turns.
  alternating,  // magnitudes in [low, high), of the sign of the element's turn; unsigned: around
                // 100
  pairs,        // whole, drawn from [low, high), plus `needle` at every second column, by turn
  at_borders,   // in [low, high) at every second border (kernels/ops/borders.h) of a line, by turn;
                // else zero
  border_needles,  // normal, but for one large number in each line along each extent, at a border
  ordered,         // from `low` to `high`, by turn: as they come; the other way round; with few
                   // exchanged; the second half before the first; three quarters of a few small
                   // numbers, then any
  masks,           // 0, or any other byte, by the element's turn; floats: any number, or any NaN
  near_ties,       // within a few steps of one number of each line, or as many of another byte;
                   // lines take turns where
  scattered,       // floats of all exponents below one of each line; lines take turns where
  needle,          // in [low, high), but for the element of each line whose turn it is; after all
                   // turns at borders for any one, and for two equal ones in turn
  two_powers,      // +-1 but for two elements of each line, by turn: one as small as any, and its
                   // reciprocal or 1
  rank_needle,     // likewise, in the rank whose turn the element is
  constant,        // the needle everywhere
  given,           // as the code that defines the op draws them (harness/input/given_data.h)
};

struct Range {
  double low = -1;
  double high = 1;
};

/// Special values in some rows of a tensor: all elements of a row share one fate.
enum class Specials {
  none,
  nonfinite,  // one NaN, one infinity, two of both signs, several infinities, several of all, or
              // some zeros, some negative infinities
  all,        // those, or nothing but zeros of both signs, or nothing but subnormal numbers; among
              // many rows also equal numbers, negative infinities, and NaNs
};

/// Kinds of special values for a tensor that is one row.
inline constexpr int lone_fates = 10;
/// Turns of `ordered`.
inline constexpr std::int64_t orders = 5;
/// Places in the range of a dtype that lines of `near_ties` and of `scattered` take in turns.
inline constexpr std::int64_t near_tie_places = 5;
inline constexpr std::int64_t scattered_places = 6;

struct Data {
  Distribution distribution = Distribution::uniform;
  Range range;                     // for f32 and all narrower dtypes
  std::optional<Range> range_f64;  // for f64, if its wider exponent range matters
  std::span<const double>
      points;  // of `around` and `far_rows`; those beyond the dtype are its ends
  /// True if a power of two scales them that the launch draws, as it always does exact data
  /// (harness/input/drawn_scale.h). `uniform`, `roots` and `constant` of floats only.
  bool drawn_scale = false;
  Specials specials = Specials::none;
  std::int64_t turn = 0;    // also of the special values of a tensor that is one row
  double needle = 0;        // infinite: the first or last number of an integer dtype
  bool like_first = false;  // the elements of input 0
  /// Number of elements that share a fate, or have one of `lone`; 0: a row, or the whole tensor if
  /// it has one extent.
  std::int64_t run = 0;
  /// If not 0: number of runs into which the tensor is divided instead.
  std::int64_t runs = 0;
};

/// Number of rows of x, and of W, after which the data of a product x W^T repeat. 0: never.
struct Panel {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// One judged launch: the inputs' data, and the rule for the outputs.
struct Pass {
  std::string_view name;   // in the CSV column `oracle`: "exact_data", "real_data"
  std::vector<Data> data;  // data of each input; the last one also serves all further inputs
  Rule rule;

  bool has_specials() const {
    return std::ranges::any_of(data, [](const Data& d) { return d.specials != Specials::none; });
  }
  const Data& data_of(std::size_t input) const { return data.at(std::min(input, data.size() - 1)); }
};

}  // namespace assay
