#pragma once

#include <optional>
#include <span>

#include "harness/statistics/interval.h"

namespace assay::statistics {

struct Mean {
  double value = 0;
  std::optional<Interval> interval;  // Student's 95%; none for a single value
};

/// Assumes independent values whose mean is about normal. Throws std::invalid_argument for no
/// values and for one that is not finite.
Mean mean_with_interval(std::span<const double> values);

}  // namespace assay::statistics
