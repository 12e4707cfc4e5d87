#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// A sum of K terms, or a dot product, taken in any order with unit roundoff u errs by at most
// L u sum |a_i b_i|, L the longest chain of operations that one term passes through, and the
// rounding of the result to the output type adds u_out |computed|. There is no denominator 1 - L u:
// Jeannerod, Rump: "Improved error bounds for inner products in floating-point arithmetic",
// SIAM J. Matrix Anal. Appl. 34(2), 2013. L = K covers every order and every blocking. A function
// of slope at most R behind the sum multiplies its error by R; further roundings are `extra`. A
// product that underflows errs by up to half the smallest subnormal number besides.
Tolerance sum_bound(const Rule& rule, const OpInstance& op) {
  const DType kept_in = accumulator(op);
  const auto longest_chain = static_cast<double>(op.signature.terms);
  Tolerance t{.scale = (rule.per_term * longest_chain + rule.extra) * unit_roundoff(kept_in),
              .description = fmt::format("sum_bound(L={},u=2^-{}{})", op.signature.terms,
                                         precision_bits(kept_in),
                                         rule.extra > 0 ? fmt::format(",+{}", rule.extra) : "")};
  if (op.signature.factors_per_term > 1) {
    const double smallest =
        std::ldexp(1.0, smallest_exponent(kept_in) - precision_bits(kept_in) + 1);
    t.absolute = std::max(rule.per_term, 1.0) * longest_chain * smallest / 2;
  }
  return rounded_to(output_dtype(op), t);
}

}  // namespace assay::oracle
