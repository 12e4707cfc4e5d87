#pragma once

#include <span>
#include <vector>

namespace assay::statistics {

/// Each p-value adjusted for being one of several (Holm, Scandinavian Journal of Statistics 6,
/// 1979): rejecting all that stay below a level makes a single false rejection less likely than
/// that level, however the tests depend on each other. In the order given.
std::vector<double> holm(std::span<const double> p);

}  // namespace assay::statistics
