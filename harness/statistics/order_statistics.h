#pragma once

#include <span>
#include <vector>

namespace assay::statistics {

/// Order statistics of a set of times.
struct Summary {
  double min = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double ci_low = 0;  // of the median, 95%; the whole range where there are too few values
  double ci_high = 0;
};

/// Throws std::invalid_argument for no values.
Summary summarize(std::vector<double> values);

double median(std::vector<double> values);

/// Ranks [low, high], counted from 0, of the order statistics that enclose the median of any
/// continuous distribution with probability of at least 95%: binomial(n, 1/2) quantiles. Hahn,
/// Meeker: "Statistical Intervals", 1991, section 5.2. Below 6 values no such interval exists and
/// the whole range is returned.
struct Ranks {
  std::size_t low;
  std::size_t high;
};
Ranks median_interval_ranks(std::size_t n);

/// Correlation of each value with its successor; 0 for a constant or fewer than 3 values.
double lag1_autocorrelation(std::span<const double> values);

}  // namespace assay::statistics
