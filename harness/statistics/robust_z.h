#pragma once

#include <cstddef>
#include <span>
#include <vector>

// Outliers of a set by medians, which a few of them do not move.
namespace assay::statistics {

/// Fewest values among which one can be told to be an outlier.
inline constexpr std::size_t min_for_outliers = 5;

struct Centre {
  double median = 0;
  /// Standard deviation of normal values, from the median absolute deviation, with its factor for
  /// small sets: Croux and Rousseeuw, "Time-Efficient Algorithms for Two Highly Robust Estimators
  /// of Scale", COMPSTAT 1992. 0 if more than half of the values are equal.
  double spread = 0;
};

/// Throws std::invalid_argument for no values.
Centre robust_centre(std::span<const double> values);

/// Distance of each value to the median of all, in spreads. Infinite beyond a spread of 0.
std::vector<double> robust_z(std::span<const double> values);

/// Two-sided p of a robust z among `count` normal values, by Student's distribution with as many
/// degrees of freedom as the spread has (0.37 of those of a standard deviation: its efficiency).
/// robust_z_test.cpp simulates how often it errs.
double robust_z_p(double z, std::size_t count);

}  // namespace assay::statistics
