#include "harness/input/exact_data.h"

#include <algorithm>
#include <cmath>

namespace assay::input {

std::int64_t exact_integer_limit(const OpInstance& op) {
  // Integers beyond 2^52 gain nothing, and the reference keeps them in doubles.
  const int p = std::min(52, precision_bits(accumulator(op.dtype)));
  const int q = std::min(52, precision_bits(op.dtype));
  const auto terms = static_cast<double>(std::max<std::int64_t>(1, op.signature.terms));
  double limit = std::floor(std::ldexp(1.0, p) / terms);
  if (op.signature.factors_per_term == 2) limit = std::floor(std::sqrt(std::ldexp(1.0, p) / terms));
  return static_cast<std::int64_t>(std::min(limit, std::ldexp(1.0, q)));
}

}  // namespace assay::input
