#pragma once

#include <span>
#include <vector>

namespace assay::statistics {

/// Adjusts each p-value for multiple tests (Holm, Scandinavian Journal of Statistics 6, 1979).
/// Rejecting all results below a level makes any false rejection less likely than that level,
/// however the tests depend on each other. Keeps the given order.
std::vector<double> holm(std::span<const double> p);

}  // namespace assay::statistics
