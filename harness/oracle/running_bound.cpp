#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "harness/oracle/accumulation.h"
#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// Where one operation feeds the next, the reference carries a bound of the error along with the
// values, and gives it in units of the accumulator's unit roundoff as the scale. A running error
// analysis after Wilkinson; Higham: "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
// 2002, section 3.3.
//
// The relative error of a sum of L exponentials of error B ulp, each shifted by the greatest
// argument, is an absolute one of its logarithm: 2 B + 2 roundings of an exponential and of its
// argument, L of the sum, and where parts are joined, in a tree, 2 B + 1 of the factor by which one
// is shifted, log2 L + 1 times at most. The reference has the errors of the arguments themselves.
//
// The reference knows no kernel. For dtypes of matrix units it allows truncating additions, which
// add little to the roundings between layers.
Tolerance running_bound(const Rule& rule, const OpInstance& op, const MathMode& mode) {
  const DType kept_in = accumulator(op);
  const double u = unit_roundoff(kept_in);
  const double chain = rule.longest_chain(static_cast<double>(op.signature.terms));
  const bool is_of_exponentials = rule.ulps > 0;
  const double of_sum =
      2 * rule.ulps + 2 + chain + (2 * rule.ulps + 1) * (std::log2(std::max(1.0, chain)) + 1);
  std::string text = text_of(accumulation(op, mode), mode);
  if (is_of_exponentials) text += fmt::format(",B={},L={}", rule.ulps, chain);
  Tolerance t{
      .scale = u,
      .absolute = is_of_exponentials ? u * of_sum : 0,
      .description = fmt::format("running_bound(u=2^-{}{})", precision_bits(kept_in), text)};
  return rounded_to(output_dtype(op), t);
}

}  // namespace assay::oracle
