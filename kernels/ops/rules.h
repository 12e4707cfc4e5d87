#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// How an op is tested, as plain data: what its inputs are drawn from, and the rule by which its
// outputs are judged. The harness interprets both.
namespace assay {

/// The oracles that can judge an output. The formulas are in harness/oracle, one file each. u is
/// the unit roundoff of the op's accumulator, u_out that of its output; S is what the reference
/// gives as the scale of an element.
enum class Oracle {
  exact,           // bit for bit the correctly rounded value
  freivalds,       // all of an exact product at once, against random weights
  sum_bound,       // |e| <= (L + extra) u S + u_out |y|: sums and dot products of S = sum |a_i b_i|
  function_bound,  // |e| <= B ulp(y) + C u S + the rounding to the output; S = |x|
  relative_bound,  // |e| <= (R L + extra) u |y| + u_out |y|: products, norms
  running_bound,   // |e| <= u S + u_out |y|: S from an error analysis along the computation
  softmax_bound,
  layernorm_bound,
};

struct Rule {
  Oracle oracle = Oracle::exact;
  double ulps = 0;            // B: the declared error of the function that the op evaluates
  double argument_units = 0;  // C: in unit roundoffs of the argument
  double per_term = 1;        // R: roundings that each term adds to a relative error
  double extra = 0;           // further roundings, beside those of the terms
  bool any_zero = false;      // of `exact`: +0 and -0 are both right
  bool payloads = false;      // of `exact`: a NaN is right only with its own bits
  /// Nothing follows the sums: the errors of many outputs together show the precision in which they
  /// were kept (harness/oracle/effective_bits.cpp), and exact ones can be checked as a whole.
  bool plain_sums = false;
};

/// How the elements of the inputs are drawn.
enum class Distribution {
  uniform,         // in [low, high); integers: any
  stratified,      // random sign, exponent and significand, within [low, high], and special values;
                   // of 16-bit floats each of the 65,536 values, of 8-bit floats the 256; of
                   // integers any
  few,             // special values and small numbers, so few that equal ones meet
  small_integers,  // uniform in [low, high], both included, in any dtype
  castable,        // as `stratified`, within the range of the cast's target and next to its ties
  integers,        // so small that every sum of the op is exact (harness/input/exact_data.h)
  factors,         // +-1 and +-2^+-1, so few of the latter that every partial product is exact
  near_one,  // in 1 +- 1/sqrt(terms), so that products neither vanish nor overflow; integers: odd
  indices,   // rows of the op's first input
  unique_words,  // 64-bit words that never repeat within a tensor
};

struct Range {
  double low = -1;
  double high = 1;
};

/// What some rows of a tensor hold instead: a row shares one fate, for special values spread.
enum class Specials {
  none,
  nonfinite,  // one NaN, one infinity, or two of both signs
  all,        // those, or nothing but zeros of both signs, or nothing but subnormal numbers
};

struct Data {
  Distribution distribution = Distribution::uniform;
  Range range;                     // of f32 and everything narrower
  std::optional<Range> range_f64;  // of f64, where its exponents reach further
  Specials specials = Specials::none;
  /// Elements that share a fate; 0: a row, the whole of a tensor with one extent.
  std::int64_t run = 0;
  /// Not 0: the tensor is divided into so many runs instead.
  std::int64_t runs = 0;
};

/// After how many rows of x, and of W, the data of a product x W^T repeat. 0: never.
struct Panel {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// One judged launch: inputs of this kind, outputs judged by this rule.
struct Pass {
  std::string_view name;   // in the CSV column `oracle`: "exact_data", "real_data"
  std::vector<Data> data;  // of each input; the last one serves all further inputs
  Rule rule;

  bool has_specials() const {
    return std::ranges::any_of(data, [](const Data& d) { return d.specials != Specials::none; });
  }
  const Data& data_of(std::size_t input) const { return data.at(std::min(input, data.size() - 1)); }
};

}  // namespace assay
