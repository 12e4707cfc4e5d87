#include <algorithm>
#include <cmath>

#include "harness/oracle/precision.h"

namespace assay::oracle {

// A 16-bit output of sums kept in f32 is the correctly rounded exact value unless that lies next to
// a tie: the rounding hides most errors of the sum, and with them a sum kept in less precision. The
// share of outputs that differ shows it. Measured: 0.009 at most for right results of up to 16384
// terms, 0.19 and more for sums in half precision, 0.37 for partial sums stored in 16 bits.
//
// Expected share: an error d moves y past a tie with probability |d| / ulp(y). d has the root mean
// square of the band's lower end, 2^-low times that of y, and a mean magnitude of 0.8 of it. For a
// normal y, each binade below its root mean square adds 0.8 2^(q - 1), down to where ulp(y) is as
// small as d: together 0.64 2^(q - 1 - low) (low - q + 1). Chains of 64 to 16384 terms give 0.6 to
// 0.85 of that. The limit adds the excess that Bernstein's inequality allows n outputs by chance
// once in 10^9 times.
std::optional<double> misrounded_limit(const Rule& rule, const OpInstance& op,
                                       const MathMode& mode) {
  const int p = precision_bits(accumulator(op));
  const int q = precision_bits(output_dtype(op));
  const std::int64_t outputs = distinct_outputs(op);
  // A gelu has errors of its own where it is near 0.
  const bool applies = rule.oracle == Oracle::sum_bound && rule.plain_sums &&
                       rule.activation != Activation::gelu && is_floating(output_dtype(op)) &&
                       q < p && op.signature.terms <= 16384 && outputs >= enough_outputs;
  if (!applies) return std::nullopt;
  const double low = chain_bits(op, mode) - 0.5;
  // Errors of sums with hardly more bits than the output are as large as its roundings.
  if (low < q + 1) return std::nullopt;
  const double share = 0.64 * std::exp2(q - 1 - low) * (low - q + 1);
  const auto n = static_cast<double>(outputs);
  const double rare = std::log(1e9);
  const double beyond = rare / 3 + std::sqrt(rare * rare / 9 + 2 * rare * n * share);
  return std::max(0.02, share + beyond / n);
}

}  // namespace assay::oracle
