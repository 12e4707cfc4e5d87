#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/statistics/interval.h"

namespace assay::statistics {

/// Order statistics of a set of times.
struct Summary {
  double min = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  std::optional<Interval> interval;  // 95% interval of the median; empty for too few values
};

/// Throws std::invalid_argument for no values.
Summary summarize(std::vector<double> values);

double median(std::vector<double> values);

/// Ranks [low, high], counted from 0, of the order statistics that enclose the median of any
/// continuous distribution with a probability of at least 95%: binomial(n, 1/2) quantiles. Hahn,
/// Meeker: "Statistical Intervals", 1991, section 5.2. Empty if even the whole range is less sure.
struct Ranks {
  std::size_t low;
  std::size_t high;
};
std::optional<Ranks> median_interval_ranks(std::size_t n);

/// Fewest values with such ranks: the range of n values misses the median with probability
/// 2 * 0.5^n.
inline constexpr std::size_t min_for_interval = 6;

/// Correlation of each value with its successor; 0 for a constant or fewer than 3 values.
double lag1_autocorrelation(std::span<const double> values);

}  // namespace assay::statistics
