#include "harness/statistics/poisson_bound.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <stdexcept>

namespace assay::statistics {

double poisson_upper_bound(std::int64_t events, double confidence) {
  if (events < 0) throw std::invalid_argument("a negative number of events");
  const boost::math::chi_squared distribution(2 * (static_cast<double>(events) + 1));
  return boost::math::quantile(distribution, confidence) / 2;
}

}  // namespace assay::statistics
