#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/oracle/accumulation.h"
#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// A sum of K terms, or a dot product, taken in any order with unit roundoff u errs by at most L u
// sum |a_i b_i|, L the longest chain of operations that one term passes through, and the rounding
// of the result to the output type adds u_out |computed|. There is no denominator 1 - L u:
// Jeannerod, Rump: "Improved error bounds for inner products in floating-point arithmetic", SIAM J.
// Matrix Anal. Appl. 34(2), 2013. L = K covers every order and every blocking. A function of slope
// at most R behind the sum multiplies its error by R; further roundings are `extra`. An
// underflowing product errs by up to half the smallest subnormal number more. Cut factors change
// each product by f of itself, and the sum of the terms grows to at most 1 + f times. Subnormal cut
// factors, beside others of at most 1, change it by 2^(lowest - q + 1) each. So do parts of
// factors, of 8 bits: what lies below the smallest bf16 number is lost. The magnitudes of the
// products of parts sum to more than the product's, and each of them may underflow.
Tolerance sum_bound(const Rule& rule, const OpInstance& op, const MathMode& mode) {
  const DType kept_in = accumulator(op);
  const Accumulation sums = accumulation(op, mode);
  const double f = sums.factor_error;
  const double chain = rule.longest_chain(sums.longest_chain);
  const double further = rule.extra * unit_roundoff(kept_in);
  const auto of_sums = [&](double roundings) {
    return rule.per_term * (roundings * sums.parts_magnitude * (1 + f) + f) + further;
  };
  Tolerance t{.scale = of_sums(chain * sums.unit_roundoff),
              .description = fmt::format("sum_bound(L={},u=2^{}{}{})", chain,
                                         std::log2(sums.unit_roundoff), text_of(sums, mode),
                                         rule.extra > 0 ? fmt::format(",+{}", rule.extra) : "")};
  if (const auto probable = probable_bound(rule, op, sums, chain)) {
    t.probable = {.scale = of_sums(probable->roundings)};
    t.description += probable->text();
  }
  if (op.signature.factors_per_term > 1) {
    const auto terms = static_cast<double>(op.signature.terms);
    const int lowest = smallest_exponent(kept_in);
    // Error of all products at once: half a subnormal number of f64 is none.
    const double products = std::ldexp(sums.parts * terms, lowest - precision_bits(kept_in));
    const int used_bits = sums.parts > 1 ? precision_bits(DType::bf16) : sums.factor_bits;
    const double factor = used_bits > 0 ? std::ldexp(1.0, lowest - used_bits + 1) : 0;
    t.absolute = std::max(rule.per_term, 1.0) * (products + 2 * terms * factor);
  }
  // Where data decide how often is rounded, the rounding to an output as wide as the sum is among
  // these.
  return rule.roundings > 0 ? rounded_to_output(op, t) : rounded_to(output_dtype(op), t);
}

}  // namespace assay::oracle
