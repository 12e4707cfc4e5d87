#include <fmt/format.h>

#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// With n columns, s the standard deviation of a row, z the normalised value, g and b weight and
// bias of the column and dm = (n + 1) u mean|x| the error of the mean:
//   |e| <= |g| (dm/s + |z| (4u + (n + 4) u / 2 + dm^2 / (2 s^2) + 4u)) + u (|g z| + |y|)
// dm/s is the error of x - mean relative to s. The bracket holds the error of s itself, for a
// variance in two passes (sum of n squares, a division, a square root), and those of the
// subtraction, division and product. The last term holds the product with g and the addition of b.
// The reference gives all but the rounding to the output as its scale, in units of u.
Tolerance layernorm_bound(const OpInstance& op) {
  const DType kept_in = accumulator(op);
  Tolerance t{.scale = unit_roundoff(kept_in),
              .description = fmt::format("layernorm_bound(n={},u=2^-{})", op.signature.terms,
                                         precision_bits(kept_in))};
  return rounded_to_output(op, t);
}

}  // namespace assay::oracle
