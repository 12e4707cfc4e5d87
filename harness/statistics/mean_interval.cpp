#include "harness/statistics/mean_interval.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <stdexcept>

namespace assay::statistics {

Mean mean_with_interval(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("no values");
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) throw std::invalid_argument("a value that is not finite");
    sum += value;
  }
  Mean mean{.value = sum / count, .interval = {}};
  if (values.size() < 2) return mean;
  double squares = 0;
  for (const double value : values) squares += (value - mean.value) * (value - mean.value);
  const boost::math::students_t distribution(count - 1);
  const double half =
      boost::math::quantile(distribution, 0.975) * std::sqrt(squares / (count - 1) / count);
  mean.interval = Interval{mean.value - half, mean.value + half};
  return mean;
}

}  // namespace assay::statistics
