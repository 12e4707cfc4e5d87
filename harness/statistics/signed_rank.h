#pragma once

#include <cstddef>
#include <span>

#include "harness/statistics/interval.h"

// Wilcoxon's signed ranks of paired differences, exact at every number of them. Hollander, Wolfe,
// Chicken: "Nonparametric Statistical Methods", 3rd edition, sections 3.1 to 3.3. All functions
// assume differences that are independent and, about their centre, symmetric; they throw
// std::invalid_argument for no differences and for a number that is not finite.
namespace assay::statistics {

/// P(W+ >= observed) if the differences were symmetric about `centre`: small if they tend to be
/// larger. Conditional on the sizes |difference - centre|, so it is exact with ties, which share
/// their mean rank, and with zeros, which take the lowest ranks and count for neither side (Pratt,
/// JASA 54, 1959: without ranking them a sample may turn significant as it comes closer to the
/// centre).
double p_greater(std::span<const double> differences, double centre);

/// Fewest differences n that can reach p_greater <= p: its minimum is 2^-n.
int min_differences(double p);

/// Median of the means of all pairs of differences, each with itself included: the centre that the
/// signed ranks fit best (Hodges and Lehmann, 1963).
double hodges_lehmann(std::span<const double> differences);

/// Interval of the centres that a two-sided signed-rank test at 1 - confidence does not reject:
/// order statistics of those means. Covers the centre with at least `confidence`, ties included.
/// Throws std::invalid_argument if even the whole range is less sure: below 6 differences for 95%.
Interval signed_rank_interval(std::span<const double> differences, double confidence = 0.95);

}  // namespace assay::statistics
