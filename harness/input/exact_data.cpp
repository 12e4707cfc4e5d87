#include "harness/input/exact_data.h"

#include <algorithm>
#include <cmath>

namespace assay::input {

ExactIntegers exact_integers(const OpInstance& op) {
  // Integers beyond 2^52 gain nothing, and the reference keeps them in doubles.
  const int p = std::min(52, precision_bits(accumulator(op.dtype)));
  const int q = std::min(52, precision_bits(op.dtype));
  const double most = std::ldexp(1.0, p);
  const auto terms = static_cast<double>(std::max<std::int64_t>(1, op.signature.terms));
  if (terms > most)
    return {.limit = 1, .stride = static_cast<std::int64_t>(std::ceil(terms / most))};
  const double limit = op.signature.factors_per_term == 2 ? std::floor(std::sqrt(most / terms))
                                                          : std::floor(most / terms);
  return {.limit = static_cast<std::int64_t>(std::min(limit, std::ldexp(1.0, q)))};
}

}  // namespace assay::input
