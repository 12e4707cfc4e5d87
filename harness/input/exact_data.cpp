#include "harness/input/exact_data.h"

#include <algorithm>
#include <cmath>

namespace assay::input {
namespace {

/// Exponent of the power of two by which sums of `terms` integers up to `limit` are scaled down,
/// for the sums' size, to keep them finite in f16, or to make the elements as large as real data.
int shift_of(const OpInstance& op, double terms, double limit) {
  const bool product = op.signature.factors_per_term == 2;
  if (op.signature.sum_rms > 0) {
    // Uniform integers up to m have a root mean square of m / sqrt 3.
    const double term_rms = product ? limit * limit / 3 : limit / std::sqrt(3.0);
    return static_cast<int>(
        std::lround(std::log2(term_rms * std::sqrt(terms) / op.signature.sum_rms)));
  }
  const DType out = output_dtype(op);
  if (!is_floating(out)) return 0;
  // Elements are then up to 1, as real data are.
  const int factors = op.signature.factors_per_term;
  const int to_one =
      factors > 2 || block_format(op.format) != nullptr ? 0 : factors * std::ilogb(limit);
  return std::max(to_one, precision_bits(accumulator(op)) - largest_exponent(out));
}

/// Significand bits within which every partial sum must stay.
int exact_bits(const OpInstance& op) {
  // Integers beyond 2^52 gain nothing, and the reference keeps them in doubles.
  int bits = std::min(52, precision_bits(accumulator(op)));
  // Tensor cores of Hopper are published to keep 14 bits of sums of 8-bit floats (DeepSeek-AI:
  // "DeepSeek-V3 Technical Report", arXiv 2412.19437, 2024, section 3.3.2).
  if (op.format == DType::e4m3) bits = std::min(bits, 14);
  // A layer's output is a factor of the next layer, which may round or cut it: it must fit exactly.
  const bool is_stack = op.signature.factors_per_term > 2;
  if (is_stack && op.format == ProductFormat::tf32)
    bits = std::min(bits, precision_bits(op.format));
  return bits;
}

/// The largest whole m with m^n <= x.
double exact_root(double x, int n) {
  double m = std::floor(std::pow(x, 1.0 / n));
  while (std::pow(m + 1, n) <= x) ++m;
  while (m > 1 && std::pow(m, n) > x) --m;
  return m;
}

/// Number of terms of the expanded sum behind one output of a stack: the paths to it from inputs
/// and biases, if one of `stride` elements in each row of the weights is not zero.
double paths(const OpInstance& op, std::int64_t stride) {
  double paths = 1;
  for (std::size_t i = 1; i < op.signature.inputs.size(); ++i) {
    const Shape& shape = op.signature.inputs[i].shape;
    const std::int64_t weights = shape.size() == 1 ? 0 : (shape[1] + stride - 1) / stride;
    paths = shape.size() == 1 ? paths + 1 : paths * static_cast<double>(weights);
  }
  return 2 * paths;  // see kernels/ops/matmul.cpp: outputs of layers are rounded, perhaps up
}

}  // namespace

bool is_stacked_weight(const OpInstance& op, int input) {
  return op.signature.factors_per_term > 2 && input > 0 &&
         op.signature.inputs[static_cast<std::size_t>(input)].shape.size() > 1;
}

double ExactIntegers::scale(const OpInstance& op, int input) const {
  const int factors = op.signature.factors_per_term;
  const double all = std::ldexp(1.0, -shift);
  // x and the biases carry the scale through all layers; the weights have none.
  if (factors > 2) return is_stacked_weight(op, input) ? 1 : all;
  if (factors == 1 || input > 1) return all;
  return std::ldexp(1.0, -(input == 0 ? shift / 2 : shift - shift / 2));
}

ExactIntegers exact_integers(const OpInstance& op) {
  const int p = exact_bits(op);
  const int q = std::min(52, precision_bits(op.format));
  // The magnitudes of a factor's parts are summed.
  const ProductTraits* product = op.format.product();
  const double most = std::ldexp(1.0, p) / (product == nullptr ? 1 : product->parts_magnitude);
  const double widest = std::ldexp(1.0, q) - (is_floating(op.format) ? 0 : 1);
  const auto terms = static_cast<double>(std::max<std::int64_t>(1, op.signature.terms));
  if (terms > most && op.signature.factors_per_term > 2) {
    std::int64_t stride = 2;
    while (paths(op, stride) > most) ++stride;
    return {.limit = 1, .stride = stride, .shift = shift_of(op, most, 1)};
  }
  if (terms > most) {
    return {.limit = 1,
            .stride = static_cast<std::int64_t>(std::ceil(terms / most)),
            .shift = shift_of(op, most, 1)};
  }
  const double limit = exact_root(most / terms, op.signature.factors_per_term);
  if (const BlockFormat* format = block_format(op.format)) {
    // Scales of four powers of two multiply integers of at least 1.
    const double integer = std::min<double>(format->largest_integer, std::floor(limit / 8));
    return {.limit = static_cast<std::int64_t>(integer),
            .shift = shift_of(op, terms, integer * 4.6)};  // rms of 1, 2, 4, 8
  }
  const double capped = std::min(limit, widest);
  return {.limit = static_cast<std::int64_t>(capped), .shift = shift_of(op, terms, capped)};
}

}  // namespace assay::input
