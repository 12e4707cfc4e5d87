#include <fmt/format.h>

#include "harness/oracle/accumulation.h"
#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// Signs of factors make that of a product, in any order, and so that of a zero.
//
// Bounds results whose relative error grows with their terms. A product of K factors, in any order,
// takes K - 1 roundings: |e| <= K u |y| (Higham: "Accuracy and Stability of Numerical Algorithms",
// 2nd ed., 2002, section 3.1; the second-order terms are below the one rounding that K exceeds
// K - 1 by). A sum of squares errs by at most L u of itself, all terms being positive, and its
// square root by half as much: R = 1/2. In the probabilistic bound, which is far from 1 where it
// counts, 1 - sqrt(1 - t) <= (t + t^2) / 2 for the square root, and |t| itself for a product.
Tolerance relative_bound(const Rule& rule, const OpInstance& op, const MathMode& mode) {
  const DType kept_in = accumulator(op);
  const double longest = rule.longest_chain(static_cast<double>(op.signature.terms));
  const double roundings = rule.per_term * longest + rule.extra;
  Tolerance t{.signed_zero = true,
              .relative = roundings * unit_roundoff(kept_in),
              .description =
                  fmt::format("relative_bound({}u,u=2^-{})", roundings, precision_bits(kept_in))};
  const auto chain = static_cast<double>(op.signature.terms);
  const auto probable =
      rule.per_term > 0 ? probable_bound(rule, op, accumulation(op, mode), chain) : std::nullopt;
  if (probable) {
    const double rounded = probable->roundings;
    const double squares = rule.per_term < 1 ? rounded * rounded : 0;
    t.probable = {.relative =
                      rule.per_term * (rounded + squares) + rule.extra * unit_roundoff(kept_in)};
    t.description += probable->text();
  }
  return rounded_to(output_dtype(op), t);
}

}  // namespace assay::oracle
