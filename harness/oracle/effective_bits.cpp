#include <cmath>
#include <numbers>

#include "harness/oracle/accumulation.h"
#include "harness/oracle/precision.h"

namespace assay::oracle {
namespace {

/// Effective bits of the sum of two independent errors: their squares add.
double combined(double bits_a, double bits_b) {
  return -0.5 * std::log2(std::exp2(-2 * bits_a) + std::exp2(-2 * bits_b));
}

/// Bits that a gelu of large sums may cost: errors of 16 units of its argument, at most.
constexpr double gelu_bits = 4;

}  // namespace

// Effective bits are -log2(rms error / rms of sqrt(sum of terms^2)). A sum of K terms in p bits
// keeps p + 1.75 - log2(K) / 2 as one chain, the worst order. Blocked sums keep more, and a single
// rounding of the exact sum keeps p + 1.25. Rounding each product before the addition keeps
// p + 1.25; the final rounding to a narrower output of q bits keeps q + 1.25. Measured, not proved:
// fitted within 0.2 bits to chains and blocks of 4 to 16384 terms, and within 0.5 bits to those of
// 1 and 2, the slack below.
//
// Factors rounded to q bits keep q + 0.9 for any K; factors cut to q bits keep q - 0.5. (The mean
// square error of a truncation is 4 times that of a rounding; errors of two factors have one sign
// and add up to 7 times.) A device may use more bits of the factors than it must.
std::optional<Band> bits_band(const Rule& rule, const OpInstance& op, const MathMode& mode) {
  const Signature& s = op.signature;
  const bool applies = rule.oracle == Oracle::sum_bound && rule.plain_sums &&
                       is_floating(output_dtype(op)) && s.terms * s.factors_per_term > 1 &&
                       distinct_outputs(op) >= enough_outputs;
  if (!applies) return std::nullopt;
  const Accumulation sums = accumulation(op, mode);
  const int p = precision_bits(accumulator(op));  // a device may keep these, whatever it declares
  const int q = precision_bits(output_dtype(op));
  double low = chain_bits(op, mode);
  if (rule.activation == Activation::gelu) low = combined(low, p - gelu_bits);
  double high = p + 1.25;
  if (s.factors_per_term > 1) low = combined(low, sums.bits + 1.25);
  if (q < p) {
    low = combined(low, q + 1.25);
    high = combined(high, q + 1.25);
  }
  double expected_high = high;
  if (sums.factor_bits > 0) {
    low = combined(low, sums.factor_bits - 0.5);
    expected_high = combined(high, sums.factor_bits + 0.9);
  }
  // Half of the outputs are 0, without an error.
  const double hidden = rule.activation == Activation::none ? 0 : 0.5;
  return Band{low - 0.5, high + hidden + 0.5, expected_high + hidden + 0.5};
}

// Truncated sums lose towards zero each time: they keep p + 1.25 - log2(steps), for steps in a row.
// Products that a step aligns and cuts add an error that alone keeps p + 0.75 - log2(K) / 2, fitted
// to units of 4, 16 and 32 products without further bits, K = 4 to 4096 (0.3 bits).
//
// Supposes that the first of n products of parts are summed as above, from 0, in the worst order,
// and the others added to a sum that is complete but for its last bits. Roundings of a sum that
// grows as sqrt k have the mean square K / 2, and those of a complete one K: 2 n - 1 times as much
// together. Truncations add up: 2/3 K^(3/2), and K^(3/2) each, 3/2 n - 1/2 times as much.
double chain_bits(const OpInstance& op, const MathMode& mode) {
  const Accumulation sums = accumulation(op, mode);
  const double half_length = std::log2(static_cast<double>(op.signature.terms)) / 2;
  const double of_parts = std::log2(2 * sums.parts - 1) / 2;
  if (!sums.truncates) return sums.bits + 1.75 - half_length - of_parts;
  const double lost_bits = std::log2(sums.steps * (1.5 * sums.parts - 0.5));
  return combined(sums.bits + 1.25 - lost_bits, sums.bits + 0.75 - half_length - of_parts);
}

// Data are uniform in [-r, r): the root mean square of a factor is 2 / sqrt 3 times its mean
// magnitude. The scale is the sum of the magnitudes of K terms.
double spread(const Verdict& verdict, const OpInstance& op) {
  const double terms = static_cast<double>(op.signature.terms);
  const double mean = verdict.scales / static_cast<double>(verdict.bounded);
  return std::pow(2 / std::numbers::sqrt3, op.signature.factors_per_term) * mean / std::sqrt(terms);
}

double effective_bits(const Verdict& verdict, const OpInstance& op) {
  const double rms = std::sqrt(verdict.error_squares / static_cast<double>(verdict.bounded));
  return -std::log2(rms / spread(verdict, op));
}

}  // namespace assay::oracle
