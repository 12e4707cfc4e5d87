#include "harness/statistics/order_statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace assay::statistics {
namespace {

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996).
double quantile(std::span<const double> sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

}  // namespace

std::optional<Ranks> median_interval_ranks(std::size_t n) {
  if (n < min_for_interval) return std::nullopt;
  const boost::math::binomial distribution(static_cast<double>(n), 0.5);
  // The largest k with P(X < k) <= 2.5%: ranks k and n + 1 - k (from 1) enclose the median.
  std::size_t k = 0;
  while (k < n / 2 && boost::math::cdf(distribution, static_cast<double>(k)) <= 0.025) ++k;
  return Ranks{k - 1, n - k};
}

Summary summarize(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("no values");
  std::sort(values.begin(), values.end());
  Summary summary{.min = values.front(),
                  .q1 = quantile(values, 0.25),
                  .median = quantile(values, 0.5),
                  .q3 = quantile(values, 0.75),
                  .interval = {}};
  if (const auto ranks = median_interval_ranks(values.size())) {
    summary.interval = Interval{values[ranks->low], values[ranks->high]};
  }
  return summary;
}

double median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("no values");
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

double lag1_autocorrelation(std::span<const double> values) {
  if (values.size() < 3) return 0;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double variance = 0;
  double covariance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    variance += (values[i] - mean) * (values[i] - mean);
    if (i > 0) covariance += (values[i] - mean) * (values[i - 1] - mean);
  }
  return variance > 0 ? covariance / variance : 0;
}

}  // namespace assay::statistics
