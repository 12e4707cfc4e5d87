#include "harness/statistics/holm.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace assay::statistics {

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;  // adjusted values must not decrease with p
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto still_tested = static_cast<double>(p.size() - rank);
    largest = std::max(largest, std::min(1.0, still_tested * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace assay::statistics
