#include <cmath>
#include <numbers>

#include "harness/oracle/precision.h"

namespace assay::oracle {
namespace {

/// Of errors that are independent: their squares add.
double combined(double bits_a, double bits_b) {
  return -0.5 * std::log2(std::exp2(-2 * bits_a) + std::exp2(-2 * bits_b));
}

}  // namespace

// Effective bits are -log2(rms error / rms of sqrt(sum of terms^2)): what a sum of K terms in p
// bits keeps is p + 1.75 - log2(K) / 2 when it is one chain, the worst order; blocked sums keep
// more, and a single rounding of the exact sum p + 1.25. Terms that are products may each be
// rounded before they are added, and a narrower output of q bits is rounded to at last: p + 1.25
// and q + 1.25. Measured, not proved: fitted within 0.2 bits to chains and blocks of 4 to 16384
// terms, within 0.5 to those of 1 and 2, which is the slack below; inputs rounded to TF32 are
// at 11.9 whatever K.
std::optional<Band> bits_band(const Rule& rule, const OpInstance& op) {
  const Signature& s = op.signature;
  const bool applies = rule.oracle == Oracle::sum_bound && rule.plain_sums &&
                       is_floating(output_dtype(op)) && s.terms * s.factors_per_term > 1 &&
                       distinct_outputs(op) >= enough_outputs;
  if (!applies) return std::nullopt;
  const int p = precision_bits(accumulator(op));
  const int q = precision_bits(output_dtype(op));
  double low = chain_bits(op);
  double high = p + 1.25;
  if (s.factors_per_term > 1) low = combined(low, p + 1.25);
  if (q < p) {
    low = combined(low, q + 1.25);
    high = combined(high, q + 1.25);
  }
  return Band{low - 0.5, high + 0.5};
}

double chain_bits(const OpInstance& op) {
  return precision_bits(accumulator(op)) + 1.75 -
         std::log2(static_cast<double>(op.signature.terms)) / 2;
}

// The data are uniform in [-r, r): the root mean square of a factor is 2 / sqrt 3 times the mean of
// its magnitude, and the scale is the sum of the magnitudes of K terms.
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
