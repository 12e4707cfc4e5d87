#include <fmt/format.h>

#include "harness/oracle/number.h"
#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// Softmax with max-shift: |e_i| <= u y_i (|x_i - m| + sum_j y_j |x_j - m| + 4 B + L + 2) + tiny.
// The first two terms are the rounding of the shifted arguments, 4 B the exponentials of error B
// ulp in numerator and denominator (1 ulp <= 2 u), L the sum of the denominator, 2 the
// subtraction's and the division's last roundings; `tiny` covers results that are flushed to zero.
// After Blanchard, Higham, Higham: "Accurately computing the log-sum-exp and softmax functions",
// IMA J. Numer. Anal. 41(4), 2021, theorem 4.2. The reference's scale is the first two terms times
// y.
Tolerance softmax_bound(const Rule& rule, const OpInstance& op) {
  const DType kept_in = accumulator(op);
  const double u = unit_roundoff(kept_in);
  const double longest_chain = rule.longest_chain(static_cast<double>(op.signature.terms));
  const Tolerance t{
      .scale = u,
      .relative = u * (4 * rule.ulps + longest_chain + 2),
      .absolute = 2 * smallest_normal(kept_in),
      .description = fmt::format("softmax_bound(B={},L={})", rule.ulps, longest_chain)};
  return rounded_to_output(op, t);
}

}  // namespace assay::oracle
