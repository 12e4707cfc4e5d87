#include "harness/statistics/robust_z.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "harness/statistics/order_statistics.h"

namespace assay::statistics {
namespace {

/// 1 / quantile of the normal distribution at 3/4.
constexpr double normal_factor = 1.4826022185056018;

/// Makes the spread of a small set unbiased, about.
double small_set_factor(std::size_t count) {
  constexpr std::array factors{1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};  // from 2
  if (count < 2) return 1;
  if (count - 2 < factors.size()) return factors.at(count - 2);
  const auto n = static_cast<double>(count);
  return n / (n - 0.8);
}

}  // namespace

Centre robust_centre(std::span<const double> values) {
  Centre centre{.median = median({values.begin(), values.end()})};
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre.median));
  centre.spread = normal_factor * small_set_factor(values.size()) * median(std::move(distances));
  return centre;
}

std::vector<double> robust_z(std::span<const double> values) {
  const Centre centre = robust_centre(values);
  std::vector<double> z;
  z.reserve(values.size());
  for (const double value : values) {
    const double distance = value - centre.median;
    const bool is_beyond = centre.spread == 0 && distance != 0;
    z.push_back(is_beyond       ? std::copysign(std::numeric_limits<double>::infinity(), distance)
                : distance == 0 ? 0
                                : distance / centre.spread);
  }
  return z;
}

double robust_z_p(double z, std::size_t count) {
  if (std::isinf(z)) return 0;
  constexpr double efficiency = 0.37;
  const double freedom = std::max(1.0, efficiency * (static_cast<double>(count) - 1));
  const boost::math::students_t distribution(freedom);
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(z)));
}

}  // namespace assay::statistics
