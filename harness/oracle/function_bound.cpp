#include <fmt/format.h>

#include <cmath>

#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// An elementary function errs by at most the B ulp that its library documents. Functions that are
// ill conditioned somewhere add C unit roundoffs of the argument (the reference's scale is |x|).
// 16-bit types are computed in f32 and rounded once; B then counts ulps of f32. An ulp is at most
// 2 u |y|, or the smallest subnormal.
Tolerance function_bound(const Rule& rule, const OpInstance& op) {
  const DType computed_in = accumulator(op);
  const double u = unit_roundoff(computed_in);
  Tolerance t{
      .scale = rule.argument_units * u,
      .description = fmt::format("function_bound(B={},C={})", rule.ulps, rule.argument_units)};
  if (output_dtype(op) == computed_in) {
    t.ulps = rule.ulps;
  } else {
    t.relative = rule.ulps * 2 * u;
    t.absolute =
        std::ldexp(rule.ulps, smallest_exponent(computed_in) - precision_bits(computed_in) + 1);
  }
  return rounded_to_output(op, t);
}

}  // namespace assay::oracle
