#include "harness/input/exact_data.h"

#include <algorithm>
#include <cmath>

namespace assay::input {
namespace {

/// By which power of two sums of `terms` integers up to `limit` are scaled down.
int shift_of(const OpInstance& op, double terms, double limit) {
  const bool product = op.signature.factors_per_term == 2;
  if (op.signature.sum_rms > 0) {
    // Integers that are uniform up to m have a root mean square of m / sqrt 3.
    const double term_rms = product ? limit * limit / 3 : limit / std::sqrt(3.0);
    return static_cast<int>(
        std::lround(std::log2(term_rms * std::sqrt(terms) / op.signature.sum_rms)));
  }
  const DType out = output_dtype(op);
  if (!is_floating(out)) return 0;
  return std::max(0, precision_bits(accumulator(op)) - largest_exponent(out));
}

/// The largest whole m with m^n <= x.
double exact_root(double x, int n) {
  double m = std::floor(std::pow(x, 1.0 / n));
  while (std::pow(m + 1, n) <= x) ++m;
  while (m > 1 && std::pow(m, n) > x) --m;
  return m;
}

}  // namespace

double ExactIntegers::scale(const OpInstance& op, int input) const {
  const int factors = op.signature.factors_per_term;
  const double all = std::ldexp(1.0, -shift);
  if (factors > 2) {  // x and the biases carry it through all layers, the weights nothing
    const bool is_weight =
        input > 0 && op.signature.inputs[static_cast<std::size_t>(input)].shape.size() > 1;
    return is_weight ? 1 : all;
  }
  if (factors == 1 || input > 1) return all;
  return std::ldexp(1.0, -(input == 0 ? shift / 2 : shift - shift / 2));
}

ExactIntegers exact_integers(const OpInstance& op) {
  // Integers beyond 2^52 gain nothing, and the reference keeps them in doubles.
  const int p = std::min(52, precision_bits(accumulator(op)));
  const int q = std::min(52, precision_bits(op.dtype));
  const double most = std::ldexp(1.0, p);
  const double widest = std::ldexp(1.0, q) - (is_floating(op.dtype) ? 0 : 1);
  const auto terms = static_cast<double>(std::max<std::int64_t>(1, op.signature.terms));
  if (terms > most) {
    return {.limit = 1,
            .stride = static_cast<std::int64_t>(std::ceil(terms / most)),
            .shift = shift_of(op, most, 1)};
  }
  const double limit = exact_root(most / terms, op.signature.factors_per_term);
  const double capped = std::min(limit, widest);
  return {.limit = static_cast<std::int64_t>(capped), .shift = shift_of(op, terms, capped)};
}

}  // namespace assay::input
