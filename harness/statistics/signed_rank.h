#pragma once

#include <cstddef>
#include <span>

#include "harness/statistics/interval.h"

// Wilcoxon's signed ranks of paired differences, exact at every number of them. Hollander, Wolfe,
// Chicken: "Nonparametric Statistical Methods", 3rd edition, sections 3.1 to 3.3. All functions
// assume differences that are independent and, about their centre, symmetric; they throw
// std::invalid_argument for no differences and for a number that is not finite.
namespace assay::statistics {

/// P(W+ >= what was observed) if the differences were symmetric about `centre`: small where they
/// tend to be larger. Conditional on the sizes |difference - centre|, so exact with ties, which
/// share their mean rank, and with zeros, which take the lowest ranks and count for neither side
/// (Pratt, JASA 54, 1959: without ranking them a sample may turn significant as it comes closer to
/// the centre).
double p_greater(std::span<const double> differences, double centre);

/// The fewest differences that can reach p_greater <= p: 2^-n is the smallest there is.
int fewest_differences(double p);

/// The median of all means of two differences, each with itself included: the centre that the
/// signed ranks fit best (Hodges and Lehmann, 1963).
double hodges_lehmann(std::span<const double> differences);

/// The centres that no two-sided signed-rank test at 1 - confidence rejects: order statistics of
/// those means. It covers the centre with at least `confidence`, ties included. Throws
/// std::invalid_argument where even the whole range is less sure: below 6 differences for 95%.
Interval signed_rank_interval(std::span<const double> differences, double confidence = 0.95);

}  // namespace assay::statistics
