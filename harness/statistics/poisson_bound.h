#pragma once

#include <cstdint>

namespace assay::statistics {

/// Upper bound, at this confidence (0 to 1), of the expected number of rare events of which
/// `events` were seen: half the chi-squared quantile of 2 (events + 1) degrees of freedom. Exact,
/// not an approximation: Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28,
/// 1936. For no events it is -ln(1 - confidence), the "rule of three". Throws std::invalid_argument
/// for a negative count.
double poisson_upper_bound(std::int64_t events, double confidence);

}  // namespace assay::statistics
