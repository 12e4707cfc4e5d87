#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// L u is a worst case, in which all roundings err one way: at L = 2^24 it allows f32 to return 0.
// If roundings are random, of mean zero whatever went before, L of them in a row err by at most
//   exp(lambda sqrt L u + L u^2 / (1 - u)) - 1 = lambda sqrt L u + ...
// of each term, and n terms of m outputs all keep this but for a probability of
//   2 n m exp(-lambda^2 (1 - u)^2 / 2),
// which `false_alarm` sets. Higham, Mary: "A new approach to probabilistic rounding error
// analysis", SIAM J. Sci. Comput. 41(5), 2019, theorems 2.4 and 3.1. Mean independence is enough:
// Connolly, Higham, Mary: "Stochastic rounding and its probabilistic backward error analysis", SIAM
// J. Sci. Comput. 43(1), 2021. Data of mean zero err by less still: Higham, Mary: "Sharper
// probabilistic backward error analysis for basic linear algebra kernels with random data", SIAM J.
// Sci. Comput. 42(5), 2020.
//
// Truncations have no mean of zero. Nor have roundings to nearest once the numbers that are added
// are no finer, or hardly wider, than one ulp h of a long sum s. In a plain loop the next error is
// x - RN(x) on the multiples of h, and its mean is zero if x is symmetric about a multiple of h /
// 2, or uniform over a multiple of h: for [-0.5, 1.5), as far as h = 2, s = 2^(p + 1), n = 4 2^p.
// The 2^24 f32 of [-0.25, 1) err by 80 sqrt n u S. So data and the longest sum are chosen together
// (Rule::unbiased_terms). docs/oracles.md has the largest errors that were measured.
std::optional<Probable> probable_bound(const Rule& rule, const OpInstance& op,
                                       const Accumulation& sums, double chain) {
  const double terms = std::max(1.0, static_cast<double>(op.signature.terms));
  const bool applies = rule.unbiased_terms > 0 && rule.roundings == 0 && !sums.truncates &&
                       sums.unit_roundoff > 0 &&
                       terms <= std::ldexp(rule.unbiased_terms, sums.bits);
  if (!applies) return std::nullopt;
  const double u = sums.unit_roundoff;
  const auto outputs = static_cast<double>(output_elements(op.signature));
  const double chances = 2 * terms * sums.parts * std::max(1.0, outputs);
  const double lambda = std::sqrt(2 * std::log(chances / false_alarm)) / (1 - u);
  const double roundings = std::expm1(lambda * std::sqrt(chain) * u + chain * u * u / (1 - u));
  if (roundings >= chain * u) return std::nullopt;
  return Probable{lambda, roundings};
}

std::string Probable::text() const {
  return fmt::format("+probable(lambda={:.1f},P<{:g})", lambda, false_alarm);
}

}  // namespace assay::oracle
