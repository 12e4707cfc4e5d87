#include <fmt/format.h>

#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// A sum of K terms, or a dot product, taken in any order with unit roundoff u errs by at most
// L u sum |a_i b_i|, L the longest chain of operations that one term passes through, and the
// rounding of the result to the output type adds u_out |computed|. There is no denominator 1 - L u:
// Jeannerod, Rump: "Improved error bounds for inner products in floating-point arithmetic",
// SIAM J. Matrix Anal. Appl. 34(2), 2013. L = K covers every order and every blocking.
Tolerance sum_bound(const OpInstance& op) {
  const DType kept_in = accumulator(op.dtype);
  const double u = unit_roundoff(kept_in);
  const double u_out = unit_roundoff(op.dtype);
  const auto longest_chain = static_cast<double>(op.signature.terms);
  return {.scale = (1 + u_out) * longest_chain * u,  // u_out of the computed value, not of y
          .relative = u_out,
          .description =
              fmt::format("sum_bound(L={},u=2^-{})", op.signature.terms, precision_bits(kept_in))};
}

}  // namespace assay::oracle
