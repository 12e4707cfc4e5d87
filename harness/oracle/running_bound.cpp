#include <fmt/format.h>

#include "harness/oracle/accumulation.h"
#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// Where one operation feeds the next, the reference carries a bound of the error along with the
// values, and gives it in units of the accumulator's unit roundoff as the scale. A running error
// analysis after Wilkinson; Higham: "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
// 2002, section 3.3.
//
// The reference knows no kernel. For dtypes of matrix units it allows truncating additions, which
// add little to the roundings between layers.
Tolerance running_bound(const OpInstance& op, const MathMode& mode) {
  const DType kept_in = accumulator(op);
  const std::string text = text_of(accumulation(op, mode), mode);
  Tolerance t{
      .scale = unit_roundoff(kept_in),
      .description = fmt::format("running_bound(u=2^-{}{})", precision_bits(kept_in), text)};
  return rounded_to(output_dtype(op), t);
}

}  // namespace assay::oracle
